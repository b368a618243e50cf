import { type CompileModeOption, SESSION_COMPILE_MODE } from '../../core/contracts/compile-mode.ts';
import type { PrecisionOption } from '../../core/contracts/precision.ts';
import { UsageError } from '../../core/errors.ts';
import type { LaunchOwner } from '../../device/device.ts';
import type { Limits } from '../../runtime/invocation.ts';
import type { MachineOptions } from '../../runtime/link/load-machine.ts';
import type { MachineLimits, ProgramLimits } from '../../core/limits/program-limits.ts';

export type RequestLimits = ProgramLimits & MachineLimits;

const MACHINE_NUMBERS = [
  'callDepth',
  'registers',
  'fields',
  'sliceMs',
] as const satisfies readonly (keyof MachineLimits)[];

export const PROGRAM_NUMBERS = [
  'workgroupLimit',
  'instructionLimit',
  'runTimeout',
  'byteBudget',
  'deviceTimeout',
  ...MACHINE_NUMBERS,
] as const satisfies readonly (keyof RequestLimits)[];

/** Throws UsageError for ceilings of a worker that are none. */
export function checkCeilings(ceilings: RequestLimits): void {
  const { programKernels = 'allow' } = ceilings;
  const where = 'limits of serve';
  for (const [name, value] of Object.entries(ceilings)) {
    const isNumber = PROGRAM_NUMBERS.some((number) => number === name);
    if (!isNumber && name !== 'programKernels') {
      const expected = `only programKernels, ${PROGRAM_NUMBERS.join(', ')}`;
      throw new UsageError({ where, got: `an unknown limit ${JSON.stringify(name)}`, expected });
    }
    if (isNumber && value !== undefined && !(Number(value) > 0)) {
      throw new UsageError({ where, got: `${name} ${value}`, expected: 'a number above 0' });
    }
  }
  if (programKernels === 'allow' || programKernels === 'refuse') return;
  const got = `programKernels ${JSON.stringify(programKernels)}`;
  throw new UsageError({ where, got, expected: '"allow" or "refuse"' });
}

/** The limits that a session asks for, as far as its worker allows them. */
export function withinCeilings(requested: RequestLimits, ceilings: RequestLimits): RequestLimits {
  const refuses = [requested, ceilings].some(({ programKernels }) => programKernels === 'refuse');
  const limits: { -readonly [Name in keyof RequestLimits]: RequestLimits[Name] } = {};
  if (refuses) limits.programKernels = 'refuse';
  for (const name of PROGRAM_NUMBERS) {
    const values = [requested[name], ceilings[name]].filter((value) => value !== undefined);
    if (values.length > 0) limits[name] = Math.min(...values);
  }
  return limits;
}

/** Options of a session's machine. `owner` stays the same when it is made again. */
export function machineOptions(
  request: RequestLimits & CompileModeOption & PrecisionOption,
  owner: LaunchOwner,
): Partial<MachineOptions> {
  const { programKernels, workgroupLimit, byteBudget, precision } = request;
  const limits: { -readonly [Name in keyof Limits]?: Limits[Name] } = {};
  for (const name of MACHINE_NUMBERS) {
    const limit = request[name];
    if (limit !== undefined) limits[name] = limit;
  }
  limits.instructions = request.instructionLimit ?? Number.POSITIVE_INFINITY;
  const compile = request.compile ?? SESSION_COMPILE_MODE;
  return { programKernels, workgroupLimit, byteBudget, limits, compile, precision, owner };
}
