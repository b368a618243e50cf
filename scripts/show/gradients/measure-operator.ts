import { compile } from '../../../src/compiler/compile.ts';
import type { DType } from '../../../src/core/tensor/dtype.ts';
import { UnsupportedError, WeftError } from '../../../src/core/errors.ts';
import { seededRandom } from '../../../src/core/random.ts';
import type { Device } from '../../../src/device/device.ts';
import { CORE_OPERATORS } from '../../../src/ops/tables/core-operators.ts';
import { testedOp } from '../../../src/ops/testing/tested-ops.ts';
import {
  type DerivativeErrors,
  type OperatorDerivatives,
  operatorDerivatives,
} from './operator-derivatives.ts';
import { type DeviceErrors, type Row, worstOf } from './row.ts';
import { runDerivatives } from './run-derivatives.ts';

/** Devices by the names that the table has for them. */
export type Devices = Readonly<Record<string, Device>>;

/** Operators whose adjoints write something out as often as a size says, which has to be known. */
export const WANTING_SIZES: readonly string[] = ['det', 'recurrent', 'linear_attention'];

/** Errors that are allowed where all is computed in double precision, and elsewhere. */
const ALLOWED = { double: 1e-5, single: 1e-3 };

/**
 * The errors of an operator's derivatives over its cases, in programs that ask for both modes: on the host in
 * double precision, with symbols for sizes where the operator knows them; elsewhere in single precision.
 */
export async function measureOperator(name: string, devices: Devices): Promise<Row> {
  const op = CORE_OPERATORS.require(name);
  const leftOut: Record<string, number> = {};
  const errors: Record<string, DeviceErrors> = {};
  const failures: string[] = [];
  let cases = 0;
  let compared = 0;
  for (const [i, opCase] of testedOp(name).cases().entries()) {
    const found = operatorDerivatives(op, opCase, seededRandom(i + 1));
    try {
      if ('leftOut' in found) throw new LeftOut(found.leftOut);
      for (const [title, device] of Object.entries(devices)) {
        const measured = await errorsOn(found, device, WANTING_SIZES.includes(name));
        errors[title] = worstOf(errors[title], measured);
        const allowed = isDouble(found, device) ? ALLOWED.double : ALLOWED.single;
        if (isWithin(measured, allowed)) continue;
        const { differences, modes } = measured;
        failures.push(
          `${name}, ${found.title} on ${title}: ${differences}, ${modes}, at most ${allowed}`,
        );
      }
      cases++;
      compared += found.compared;
    } catch (error) {
      if (!(error instanceof LeftOut) && !isWithoutAdjoint(error)) {
        failures.push(`${name}, ${opCase.title}: ${String(error)}`);
        continue;
      }
      leftOut[error.message] = (leftOut[error.message] ?? 0) + 1;
    }
  }
  return { title: name, cases, compared, leftOut, errors, failures };
}

class LeftOut extends Error {}

/** Forms of an operator of which its adjoint says that it does not know them. */
function isWithoutAdjoint(error: unknown): error is UnsupportedError {
  return error instanceof UnsupportedError && error.message.includes('got a derivative of');
}

function isWithin({ differences, modes = 0 }: DeviceErrors, allowed: number): boolean {
  return differences <= allowed && modes <= allowed;
}

function isDouble(found: OperatorDerivatives, { info }: Device): boolean {
  return info.adapterClass === 'host' && found.isDouble;
}

async function errorsOn(
  found: OperatorDerivatives,
  device: Device,
  wantsSizes: boolean,
): Promise<DerivativeErrors> {
  const run = async (symbolic: boolean, float?: DType): Promise<DerivativeErrors> => {
    const module = found.module({ float, symbolic });
    return found.errorsOf(await runDerivatives(module, found.args(float), device));
  };
  if (device.info.adapterClass !== 'host') return run(false, 'float32');
  return run(!wantsSizes && knowsSymbols(found));
}

/** Returns true if the operator accepts the case with symbols for sizes: some need known sizes. */
function knowsSymbols(found: OperatorDerivatives): boolean {
  try {
    compile(found.callModule({ symbolic: true }));
    return true;
  } catch (error) {
    if (error instanceof WeftError) return false;
    throw error;
  }
}
