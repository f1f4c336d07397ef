export { NewTaskPage } from './NewTaskPage';
