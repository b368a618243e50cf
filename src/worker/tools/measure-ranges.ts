import { createHostDevice } from '../../device/host/host-device.ts';
import { RangeMeasurement, type ValueRange } from '../../runtime/compare/measure-ranges.ts';
import { widenArgument } from '../../runtime/compare/widen-program.ts';
import type { Tool, WatchedProgram } from './tool.ts';

export interface RangesRequest {
  readonly functionName: string;
  /** No further run belongs to the measurement. */
  readonly isLast: boolean;
}

/**
 * Runs a function in float32 on the host, and tells how large the values are that the program stores as float16, in all runs up
 * to the last one.
 */
export function openTool(): Tool<RangesRequest, WatchedProgram, readonly ValueRange[]> {
  let open: RangeMeasurement | undefined;
  return async ({ functionName, isLast }, { executable, signal, ...program }) => {
    const args = await program.readArguments();
    open ??= await RangeMeasurement.open(
      executable,
      await program.exclude(program.readConstants),
      createHostDevice(),
    );
    const measurement = open;
    try {
      return { answer: await measurement.run(functionName, args.map(widenArgument), signal) };
    } finally {
      if (isLast) {
        open = undefined;
        measurement.dispose();
      }
    }
  };
}
