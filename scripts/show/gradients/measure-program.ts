import { GRADIENT_PROGRAMS } from '../../../src/compiler/testing/gradient-programs/gradient-programs.ts';
import { ProgramDerivatives } from '../../../src/compiler/testing/gradient-programs/program-derivatives.ts';
import type { Devices } from './measure-operator.ts';
import type { DeviceErrors, Row } from './row.ts';

/** Errors that are allowed in each precision. */
const ALLOWED = { float64: 1e-6, float32: 1e-3, float16: 2e-2 };

/** The errors of a program's gradient: in double precision on the host, elsewhere in that of the program. */
export async function measureProgram(title: string, devices: Devices): Promise<Row> {
  const program = GRADIENT_PROGRAMS.find((candidate) => candidate.title === title);
  if (program === undefined) throw new Error(`no program "${title}"`);
  const derivatives = await ProgramDerivatives.of(program);
  const errors: Record<string, DeviceErrors> = {};
  const failures: string[] = [];
  const { single = 'float32', withoutForward } = program;
  for (const [name, device] of Object.entries(devices)) {
    const float = device.info.adapterClass === 'host' ? 'float64' : single;
    try {
      const measured = await derivatives.errorsOn(device, float);
      errors[name] = measured;
      const { differences, modes = 0 } = measured;
      if (differences <= ALLOWED[float] && modes <= ALLOWED[float]) continue;
      failures.push(`${title} on ${name}: ${differences}, ${modes}, at most ${ALLOWED[float]}`);
    } catch (error) {
      failures.push(`${title} on ${name}: ${String(error)}`);
    }
  }
  const leftOut = withoutForward === undefined ? {} : { [`forward mode: ${withoutForward}`]: 1 };
  const compared = derivatives.expected.length;
  return { title, cases: 1, compared, leftOut, errors, failures };
}
