import { type OutputValue, Session, Tensor, type ValueInfo } from '../client/index.ts';
import type { Executable } from '../bytecode/index.ts';
import type { Module, PassBisection, Type, VarExpr } from '../compiler/index.ts';
import type { ReferenceValue } from '../compiler/evaluation/reference-value.ts';
import { firstDifference } from '../core/tensor/all-close.ts';
import { UsageError } from '../core/errors.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { readTensor } from './files/tensor-file.ts';

/** The tolerance for results that were computed in another order. */
const TOLERANCE = { rtol: 1e-4, atol: 1e-5 };

/** The arguments of `main` from files, in the order of its parameters. Throws UsageError for missing ones. */
export async function readArguments(
  module: Module,
  files: Readonly<Record<string, string>>,
): Promise<ReferenceValue[]> {
  const params = module.functions.get('main')?.params ?? [];
  const names = params.map(({ name }) => name);
  const unknown = Object.keys(files).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const expected = `one of ${names.join(', ')}`;
    throw new UsageError({ where: '--bisect', got: `the input ${unknown}`, expected });
  }
  return Promise.all(params.map(async (param) => readArgument(param, files[param.name])));
}

async function readArgument(
  { name, type }: VarExpr,
  file: string | undefined,
): Promise<ReferenceValue> {
  if (file === undefined) {
    const expected = `--bisect ${name}=FILE for every input of main`;
    throw new UsageError({ where: '--bisect', got: `no input ${name}`, expected });
  }
  if (type?.kind === 'scalar') return Number(file);
  const { dtype, shape, data } = await readTensor(file, infoOf(name, type));
  return new HostTensor(dtype, shape, data);
}

function infoOf(name: string, type: Type | undefined): ValueInfo | undefined {
  if (type?.kind !== 'tensor') return undefined;
  const shape = type.shape.map((dim) => (typeof dim === 'number' ? dim : '?'));
  return { name, dtype: type.dtype, shape };
}

/** The finding of a bisection, as comments of a program. */
export function describeBisection({
  changed,
  checked,
  unchecked,
  expected,
}: PassBisection): string {
  const lines = [
    changed === undefined
      ? `The result is the same after every pass that was compared: ${checked.join(', ') || 'none'}.`
      : `The result changes after ${changed.pass}: ${changed.difference}`,
  ];
  if (expected === undefined) lines[0] = 'No module could be computed.';
  const reasons = new Map<string, string[]>();
  for (const { pass, reason } of unchecked) {
    reasons.set(reason, [...(reasons.get(reason) ?? []), pass]);
  }
  for (const [reason, passes] of reasons)
    lines.push(`Not compared after ${passes.join(', ')}: ${reason}`);
  return lines.map((line) => `// ${line.replaceAll('\n', '\n//   ')}\n`).join('');
}

/**
 * How the result of an executable on the host device differs from what a bisection expects; undefined where it
 * does not, or is none of tensors. It covers passes that put memory into programs.
 */
export async function differenceOnHost(
  executable: Executable,
  module: Module,
  { inputs, expected }: { inputs: readonly ReferenceValue[]; expected: ReferenceValue },
): Promise<string | undefined> {
  const wanted = tensorsOf(expected);
  const params = module.functions.get('main')?.params ?? [];
  const named = params.map(({ name }, i) => [name, inputOf(inputs[i])] as const);
  const session = await Session.load(executable.toBytes(), { worker: false, device: 'host' });
  try {
    const outputs = await session.run<OutputValue>(Object.fromEntries(named));
    for (const [i, [name, value]] of Object.entries(outputs).entries()) {
      const tensor = wanted[i];
      if (tensor === undefined || !(value instanceof Tensor)) continue;
      const { dtype, shape, data } = value;
      const difference = firstDifference(new HostTensor(dtype, shape, data), tensor, TOLERANCE);
      if (difference !== undefined) return `${name}: ${difference}`;
    }
    return undefined;
  } finally {
    await session.dispose();
  }
}

function inputOf(value: ReferenceValue | undefined): Tensor | number {
  if (typeof value === 'number') return value;
  if (value instanceof HostTensor) return new Tensor(value.dtype, value.data, value.shape);
  throw new UsageError({
    where: '--bisect',
    got: 'another value',
    expected: 'tensors and numbers',
  });
}

function tensorsOf(value: ReferenceValue): readonly HostTensor[] {
  if (value instanceof HostTensor) return [value];
  if (typeof value === 'number' || value.kind !== 'tuple') return [];
  return value.fields.filter((field) => field instanceof HostTensor);
}
