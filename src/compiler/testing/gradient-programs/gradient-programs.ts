import { DATA_PROGRAMS } from './data-programs.ts';
import { FUNCTION_PROGRAMS } from './function-programs.ts';
import type { GradientProgram } from './gradient-program.ts';
import { HIGHER_ORDER_PROGRAMS } from './higher-order-programs.ts';
import { NETWORK_PROGRAMS } from './network-programs.ts';
import { ONNX_PROGRAMS } from './onnx-programs.ts';
import { RUN_TIME_FUNCTION_PROGRAMS } from './run-time-function-programs.ts';
import { SIZE_PROGRAMS } from './size-programs.ts';

/** Programs whose gradients are compared with central differences. */
export const GRADIENT_PROGRAMS: readonly GradientProgram[] = [
  ...DATA_PROGRAMS,
  ...FUNCTION_PROGRAMS,
  ...RUN_TIME_FUNCTION_PROGRAMS,
  ...SIZE_PROGRAMS,
  ...NETWORK_PROGRAMS,
  ...HIGHER_ORDER_PROGRAMS,
  ...ONNX_PROGRAMS,
];
