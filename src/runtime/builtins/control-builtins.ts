import type { BuiltinName } from '../../bytecode/builtins.ts';
import { truthOf } from '../../bytecode/truth-of.ts';
import { RuntimeError, ShapeError } from '../../core/errors.ts';
import type * as FormatValue from '../format-value.ts';
import { readTensors, readTensorSync } from '../tensor-read.ts';
import {
  ClosureValue,
  describeValue,
  PackedFunctionValue,
  type PackedFunction,
  TensorValue,
  type Value,
} from '../value.ts';
import type { VmState } from '../vm-state.ts';

import { expectInt, expectString, wrongKind } from './operand.ts';

/** Conditions, closures, and what ends or reports a program. */
export function controlBuiltins(state: VmState) {
  // Loaded with the first text that is printed.
  let formatting: typeof FormatValue | undefined;
  const print = (values: readonly Value[], file: typeof FormatValue): null | Promise<null> => {
    formatting = file;
    const write = (line: string): null => {
      state.log(line);
      return null;
    };
    const line = file.formatValues(values);
    return typeof line === 'string' ? write(line) : line.then(write);
  };
  return {
    read_if_cond: (condition: Value) => readCondition(condition, 'read_if_cond'),
    assert: (condition: Value, message: Value) => {
      const holds = readCondition(condition, 'assert');
      if (typeof holds === 'number') return assertHolds(holds, message);
      return holds.then((late) => assertHolds(late, message));
    },
    fatal: (message: Value) => {
      throw new RuntimeError(expectString(message, 'fatal'));
    },
    print: (...values: Value[]) =>
      formatting === undefined
        ? import('../format-value.ts').then((file) => print(values, file))
        : print(values, formatting),
    make_closure: (callee: Value, ...captured: Value[]) => {
      const { machine, fields: count } = state;
      if (callee instanceof PackedFunctionValue) {
        return new ClosureValue(machine, callee, { captured, count });
      }
      if (callee instanceof ClosureValue) {
        const all = [...captured, ...callee.captured];
        return new ClosureValue(callee.machine, callee.target, { captured: all, count });
      }
      throw wrongKind(callee, 'a function', 'make_closure');
    },
    // The interpreter loop pushes a frame instead; this serves a closure over invoke_closure itself.
    invoke_closure: (callee: Value, ...args: Value[]) => state.machine.toFunction(callee)(...args),
  } satisfies Partial<Record<BuiltinName, PackedFunction>>;
}

function assertHolds(condition: number, message: Value): null {
  if (condition !== 0) return null;
  throw new RuntimeError(`assertion failed: ${expectString(message, 'assert')}`);
}

/** 0 or 1; a promise only where the device cannot be read without waiting. */
function readCondition(condition: Value, where: string): number | Promise<number> {
  if (!(condition instanceof TensorValue)) return expectInt(condition, where) === 0 ? 0 : 1;
  if (condition.shape.some((dim) => dim !== 1)) {
    throw new ShapeError({ where, got: describeValue(condition), expected: 'one element' });
  }
  const ready = readTensorSync(condition);
  return ready === undefined
    ? readTensors([condition]).then(([late]) => (late === undefined ? 0 : truthOf(late)))
    : truthOf(ready);
}
