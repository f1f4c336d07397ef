export { LogView, type LogViewProps } from './LogView';
export type { Line, Lines } from './cache';
export type { FetchLines } from './model';
export type { Matches, SearchLines, SearchOptions } from './search';
