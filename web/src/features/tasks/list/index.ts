export { TasksPage } from './TasksPage';
// What other lists of tasks are made of.
export { Acts, useActs } from './acts/Acts';
export { Refusal } from './acts/Refusal';
export { TaskMenu } from './acts/TaskMenu';
export { isComposing, kPhone, RowGrid, type CellsProps } from './grid/RowGrid';
export { useTaskPages } from './useTaskPages';
