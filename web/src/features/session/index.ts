export { sessionQuery, signIn, signOut, takeCode } from './api';
export { Front } from './Front';
