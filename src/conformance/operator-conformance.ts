import { compile } from '../compiler/compile.ts';
import { PassBisection } from '../compiler/instruments/pass-bisection.ts';
import { firstDifference, type Tolerance } from '../core/tensor/all-close.ts';
import { checkOptions, instanceOf, type OptionKinds, requireKind } from '../core/check-options.ts';
import { WeftError } from '../core/errors.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { seededRandom } from '../core/random.ts';
import type { Device } from '../device/device.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import { coreOperators } from '../ops/tables/core-operators.ts';
import { inferConcreteCall } from '../ops/infer-concrete-call.ts';
import type { OpCase, OpCaseInput } from '../ops/op-cases.ts';
import type { Operator } from '../ops/operator.ts';
import { Operators } from '../ops/operators.ts';
import { TensorValue } from '../runtime/values/value.ts';
import { VirtualMachine } from '../runtime/virtual-machine.ts';
import { casesOfAllDTypes } from './dtype-variants.ts';
import type { Dim } from '../core/dims/dim.ts';
import { call, func, moduleOf, variable } from '../compiler/ir/build.ts';
import type { Expr, Module } from '../compiler/ir/expr.ts';
import { type DType, dtypeInfo, isBigInt } from '../core/tensor/dtype.ts';
import { numberToFloat16 } from '../core/tensor/float16.ts';
import { elementCount, type Shape } from '../core/tensor/shape.ts';

/** The inputs of a case, filled from `random` (numbers in [0, 1)) where it gives no values. */
export function caseTensors(opCase: OpCase, random: () => number): (HostTensor | undefined)[] {
  return opCase.inputs.map((input) =>
    input === undefined ? undefined : caseTensor(input, random),
  );
}

function caseTensor(input: OpCaseInput, random: () => number): HostTensor {
  const { dtype, shape, values } = input;
  if (values !== undefined) return tensorOf(dtype, shape, values);
  const { category } = dtypeInfo(dtype);
  if (isBigInt(dtype) && input.range === undefined) return wideTensor(dtype, shape, random);
  const [low, high] = input.range ?? DEFAULT_RANGES[category];
  const numbers = Array.from({ length: elementCount(shape) }, () => {
    const value = low + random() * (high - low);
    return category === 'float' ? value : Math.floor(value);
  });
  return tensorOf(dtype, shape, numbers);
}

function tensorOf(dtype: DType, shape: Shape, values: readonly number[]): HostTensor {
  return HostTensor.from(dtype, shape, dtype === 'float16' ? values.map(numberToFloat16) : values);
}

/** Small numbers, numbers of all 64 bits, and numbers in between by turns. */
function wideTensor(dtype: DType, shape: Shape, random: () => number): HostTensor {
  const word = () => BigInt(Math.floor(random() * 2 ** 32));
  const values = Array.from({ length: elementCount(shape) }, (_, i) => {
    const bits = BigInt.asIntN(64, (word() << 32n) | word()) >> BigInt([61, 0, 20, 31][i % 4] ?? 0);
    return dtype === 'int64' ? bits : BigInt.asUintN(64, bits);
  });
  return HostTensor.from(dtype, shape, values);
}

const DEFAULT_RANGES = {
  float: [-2, 2],
  int: [-8, 8],
  uint: [0, 16],
  bool: [0, 2],
} as const;

type ProgramForm = 'call' | 'symbolic sizes' | 'fused';

/** Forms of programs with a case of an operator. */
const PROGRAM_FORMS: readonly ProgramForm[] = ['call', 'symbolic sizes', 'fused'];

/** Sizes from here on get symbols: 0 and 1 decide about broadcasting. */
const LEAST_SYMBOLIC = 2;

/**
 * `main` with a call of an operator: with the sizes of a case, with symbols in their places, or with the result
 * as the operand of a further call, which may be fused into the kernel. Undefined for a case that has no such
 * form: inputs left out before others, no sizes to name.
 */
function operatorProgram(
  op: Operator,
  { inputs, attributes = {} }: OpCase,
  form: ProgramForm,
): Module | undefined {
  const present = inputs.slice(0, inputs.findLastIndex((input) => input !== undefined) + 1);
  const isSymbolic = form === 'symbolic sizes';
  const named = (size: number): Dim => (isSymbolic && size >= LEAST_SYMBOLIC ? `s${size}` : size);
  const params = present.map((input, i) =>
    input === undefined ? undefined : variable(`x${i}`, input.dtype, input.shape.map(named)),
  );
  const whole = params.filter((param) => param !== undefined);
  if (whole.length < params.length) return undefined;
  const sizes = present.flatMap((input) => input?.shape ?? []);
  if (isSymbolic && !sizes.some((size) => size >= LEAST_SYMBOLIC)) return undefined;
  const result: Expr = call(op.name, whole, attributes);
  return moduleOf({ main: func(whole, form === 'fused' ? call('abs', [result]) : result) });
}

/** The cases and devices of a conformance test. */
export interface ConformanceOptions {
  /** Calls that the operator has to do. Inputs without values are filled from a seeded source. */
  readonly cases: readonly OpCase[];
  /** Calls that its shape rule has to refuse. */
  readonly badCases?: readonly OpCase[] | undefined;
  /** Devices that know the operator, by the names that the report has for them. */
  readonly devices: Readonly<Record<string, Device>>;
  /** The table of operators. Default: the core operators and this one. */
  readonly operators?: Operators | undefined;
  /** Runs some cases with each further dtype that the operator takes. Default: true. */
  readonly dtypes?: boolean | undefined;
}

const OPTIONS: OptionKinds<ConformanceOptions> = {
  cases: ['a list with at least one', (value) => Array.isArray(value) && value.length > 0],
  badCases: 'list',
  devices: 'object',
  operators: instanceOf('new Operators([…])', Operators),
  dtypes: 'boolean',
};

interface ConformanceResult {
  readonly title: string;
  /** The form of the program, or `refused` for a bad case. */
  readonly form: ProgramForm | 'refused';
  /** The name of the device; absent for checks that need none. */
  readonly device?: string;
  /** In words, what is wrong; absent: nothing. */
  readonly failure?: string;
  /** Why the check does not exist for the case; absent: it was made. */
  readonly skipped?: string;
}

/** All checks of an operator. */
export interface ConformanceReport {
  /** The name of the operator. */
  readonly operator: string;
  /** Every check, in order. */
  readonly results: readonly ConformanceResult[];
  /** A line for each check that failed. Empty: the operator conforms. */
  readonly failures: readonly string[];
}

/**
 * Runs cases of an operator as compiled programs and compares every device with its reference, or with what
 * its composition means: a call, the same with symbolic sizes, and with a call that may be fused into its
 * kernel. After each pass the program still has to compute the same, and bad cases have to be refused. Needs no
 * test runner. Throws UsageError without cases, and for what it does not take.
 */
export async function operatorConformance(
  operator: Operator,
  options: ConformanceOptions,
): Promise<ConformanceReport> {
  const where = 'operatorConformance';
  requireKind(where, ['an operator', (value) => 'kind' in Object(value)], ['operator', operator]);
  checkOptions(where, options, OPTIONS);
  requireKind(where, OPTIONS.cases, ['cases', options.cases]);
  const { cases, badCases = [], dtypes = true } = options;
  const others = coreOperators.filter(({ name }) => name !== operator.name);
  const operators = options.operators ?? new Operators([...others, operator]);
  const suite = new Suite(operator, operators, options.devices);
  const all = dtypes ? casesOfAllDTypes({ ...operator, cases: () => cases }) : cases;
  for (const [i, opCase] of all.entries()) {
    for (const form of PROGRAM_FORMS) await suite.check(opCase, form, i + 1);
  }
  for (const opCase of badCases) suite.checkRefused(opCase);
  const { results } = suite;
  const failures = results.flatMap(({ title, form, device = 'the compiler', failure }) =>
    failure === undefined ? [] : [`${title} (${form}) on ${device}: ${failure}`],
  );
  return { operator: operator.name, results, failures };
}

class Suite {
  readonly results: ConformanceResult[] = [];
  readonly #operator: Operator;
  readonly #operators: Operators;
  readonly #devices: Readonly<Record<string, Device>>;

  constructor(operator: Operator, operators: Operators, devices: Readonly<Record<string, Device>>) {
    this.#operator = operator;
    this.#operators = operators;
    this.#devices = devices;
  }

  async check(opCase: OpCase, form: ProgramForm, seed: number): Promise<void> {
    const { title } = opCase;
    const module = operatorProgram(this.#operator, opCase, form);
    if (module === undefined) {
      this.results.push({ title, form, skipped: 'the case has no such form' });
      return;
    }
    const inputs = caseTensors(opCase, seededRandom(seed)).filter((input) => input !== undefined);
    const tolerance = this.#operator.tolerance;
    const bisection = new PassBisection({ inputs, tolerance: atHalfPrecision(tolerance) });
    try {
      const operators = this.#operators;
      const executable = compile(module, { operators, instruments: [bisection] });
      const { changed, expected, unchecked } = bisection;
      if (!(expected instanceof HostTensor)) {
        this.results.push({ title, form, skipped: unchecked[0]?.reason ?? 'no result' });
        return;
      }
      if (changed !== undefined) {
        const failure = `pass ${changed.pass} changes it: ${changed.difference}`;
        this.results.push({ title, form, failure });
      }
      for (const [device, opened] of Object.entries(this.#devices)) {
        const failure = await this.#differenceOn(opened, executable, { inputs, expected });
        this.results.push({ title, form, device, ...(failure !== undefined && { failure }) });
      }
    } catch (error) {
      this.#refused({ title, form }, error);
    }
  }

  /** Some calls are there for known sizes only, or give what has no absolute value. */
  #refused({ title, form }: Pick<ConformanceResult, 'title' | 'form'>, error: unknown): void {
    const reason = messageOf(error);
    const isExpected = form !== 'call' && error instanceof WeftError;
    this.results.push({ title, form, ...(isExpected ? { skipped: reason } : { failure: reason }) });
  }

  checkRefused({ title, inputs, attributes = {} }: OpCase): void {
    try {
      inferConcreteCall(this.#operator, inputs, attributes);
      const failure = 'the shape rule accepts it';
      this.results.push({ title, form: 'refused', failure });
    } catch (error) {
      const isOnPurpose = error instanceof WeftError;
      const failure = isOnPurpose ? {} : { failure: `no error of Weft: ${messageOf(error)}` };
      this.results.push({ title, form: 'refused', ...failure });
    }
  }

  async #differenceOn(
    device: Device,
    executable: ReturnType<typeof compile>,
    { inputs, expected }: { inputs: readonly HostTensor[]; expected: HostTensor },
  ): Promise<string | undefined> {
    const host = createHostDevice({ operators: this.#operators });
    let machine: VirtualMachine | undefined;
    try {
      machine = await VirtualMachine.create(executable, { devices: [device, host] });
      const result = await machine.get('main')(...inputs);
      if (!(result instanceof TensorValue)) return 'the result is no tensor';
      const [actual] = await machine.read([result]);
      machine.release(result);
      if (actual === undefined) return 'no result';
      return firstDifference(actual, expected, toleranceFor(this.#operator.tolerance, expected));
    } catch (error) {
      return messageOf(error);
    } finally {
      machine?.dispose();
      host.destroy();
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** How far a result may be from what is expected: float16 may be rounded to the neighbour of it. */
export function toleranceFor(tolerance: Tolerance, { dtype }: HostTensor): Tolerance {
  return dtype === 'float16' ? atHalfPrecision(tolerance) : tolerance;
}

/** The tolerance with a rounding to float16 more; that of an exact operator as it is. */
function atHalfPrecision({ rtol, atol }: Tolerance): Tolerance {
  if (rtol === 0 && atol === 0) return { rtol, atol };
  return { rtol: rtol + 2 ** -10, atol: atol + 2 ** -24 };
}
