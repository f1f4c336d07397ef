export { Chart, type ChartProps } from './Chart';
export { Sparkline, type SparklineProps } from './Sparkline';
export type { ChartLine, ScaleKind, Trace, XKind, XRange } from './line';
