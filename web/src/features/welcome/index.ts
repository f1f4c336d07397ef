export { WelcomePage } from './WelcomePage';
export { CopyLine } from './CopyLine';
