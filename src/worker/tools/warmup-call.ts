import type { BytecodeFunction, ExecutableData, ValueType } from '../../bytecode/executable.ts';
import { type Dim, evaluateDim } from '../../core/dims/dim.ts';
import { UsageError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { HostInput } from '../../runtime/link/host-function.ts';
import type { Dims } from '../protocol/dispatch-sizes.ts';

/**
 * Arguments of zeros for `main`, or for the first function: `dims` are sizes of symbols, 1 for those
 * not given. Undefined for a program without functions. Throws UsageError for a wrong name or size.
 */
export function warmupCall(
  { functions }: ExecutableData,
  dims: Dims,
): { readonly name: string; readonly args: HostInput[] } | undefined {
  const main = functions.find(({ name }) => name === 'main') ?? functions[0];
  if (main === undefined) return undefined;
  const symbols = symbolsOf(main, dims);
  checkDims(symbols, dims);
  const args = main.paramNames.map((_, index) => zeroOf(main.signature?.params[index], symbols));
  return { name: main.name, args };
}

function checkDims(symbols: ReadonlyMap<string, number>, dims: Dims): void {
  const known = [...symbols.keys()].filter((name) => name !== '?');
  for (const [name, size] of Object.entries(dims)) {
    const isKnown = known.includes(name);
    if (isKnown && Number.isSafeInteger(size) && size >= 0) continue;
    const names = known.length === 0 ? 'none: all dimensions are fixed' : known.join(', ');
    throw new UsageError({
      where: 'warmup',
      got: isKnown ? `${String(size)} for dimension ${name}` : `dimension ${name}`,
      expected: isKnown ? 'an integer from 0 up' : names,
    });
  }
}

/** Values of all symbols; 1 for those not given, so that expressions over them have a value. */
function symbolsOf(main: BytecodeFunction, dims: Dims): Map<string, number> {
  const sizes = new Map(Object.entries(dims));
  const symbols = new Map<string, number>();
  const visit = (dim: Dim): void => {
    if (typeof dim === 'string') symbols.set(dim, sizes.get(dim) ?? 1);
    else if (typeof dim === 'object') [dim.left, dim.right].forEach(visit);
  };
  for (const type of main.signature?.params ?? []) {
    if (type.kind === 'tensor') type.shape.forEach(visit);
  }
  return symbols;
}

function zeroOf(type: ValueType | undefined, symbols: ReadonlyMap<string, number>): HostInput {
  if (type?.kind === 'int' || type?.kind === 'float') return 0;
  if (type?.kind !== 'tensor') return null;
  const shape = type.shape.map((dim) => Math.max(0, evaluateDim(dim, symbols) ?? 1));
  return HostTensor.splat(type.dtype, shape, 0);
}
