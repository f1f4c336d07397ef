export * from './api';
export { beginAct, endAct, pending, pendingAct, usePending, usePendingAct } from './pending';
