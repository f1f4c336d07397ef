// Where things are: one line a place. Each is loaded when it is first seen.
import { lazy } from 'react';

export const Overview = lazy(() => import('@/features/overview').then((made) => ({ default: made.OverviewPage })));
export const Task = lazy(() => import('@/features/task').then((made) => ({ default: made.TaskPage })));
export const Tasks = lazy(() => import('@/features/tasks/list').then((made) => ({ default: made.TasksPage })));
export const NewTask = lazy(() => import('@/features/submit').then((made) => ({ default: made.NewTaskPage })));
export const Welcome = lazy(() => import('@/features/welcome').then((made) => ({ default: made.WelcomePage })));
