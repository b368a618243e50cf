export { describeError, formatBytes, formatCount, formatMs } from '../core/format-quantity.ts';
