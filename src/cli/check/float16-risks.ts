import type { Executable } from '../../bytecode/index.ts';
import { ArgumentKind, argumentKind, argumentValue, decodeRange } from '../../bytecode/isa.ts';
import { float16ToNumber, numberToFloat16 } from '../../core/tensor/float16.ts';
import { formatPlace } from '../../core/contracts/source-place.ts';

/** How a program stands to float16. */
export interface Float16Answer {
  /** Kernels that read or write float16. */
  readonly kernels: number;
  /** Constants of float32 that float16 does not hold, for whoever wants to round the model. */
  readonly risks: readonly Float16Risk[];
}

/** A constant of float32 whose elements float16 does not hold. */
export interface Float16Risk {
  readonly shape: readonly number[];
  /** Elements beyond 65,504, which would become infinite. */
  readonly infinite: number;
  /** Elements that would become 0, or lose more than a hundredth. */
  readonly coarse: number;
  /** The largest of their magnitudes. */
  readonly largest: number;
  /** Nodes of the model or lines of the source that read it. */
  readonly sources: readonly string[];
}

const LARGEST = 65_504;
/** The relative error that counts. */
const COARSE = 0.01;
/** Smaller numbers have fewer than all digits of float16. */
const LEAST_NORMAL = 2 ** -14;
/** The part of a weight's elements that may be tiny: a few of them do not matter. */
const COARSE_SHARE = 0.01;

/** The use of float16 in a program, and its constants that float16 does not hold. */
export function float16Answer(executable: Executable): Float16Answer {
  const { primitives, constants } = executable;
  const isHalf = ({ dtype }: { readonly dtype: string }): boolean => dtype === 'float16';
  const kernels = primitives.filter(
    ({ params, results }) => params.some(isHalf) || results.some(({ type }) => isHalf(type)),
  );
  const readers = constantReaders(executable);
  const risks = constants.flatMap((constant, index): Float16Risk[] => {
    if (constant.kind !== 'tensor' || constant.dtype !== 'float32') return [];
    const found = riskOf(executable.tensor(index).data, constant.isSplat);
    if (found === undefined) return [];
    const sources = [...(readers.get(index) ?? [])];
    return [{ shape: constant.shape, ...found, sources }];
  });
  return { kernels: kernels.length, risks };
}

type Elements = Pick<Float16Risk, 'infinite' | 'coarse' | 'largest'>;

/** Undefined where float16 holds all that matters. Infinite elements are meant so. */
function riskOf(data: ArrayLike<number | bigint>, isSplat: boolean): Elements | undefined {
  const count = isSplat ? Math.min(1, data.length) : data.length;
  let [infinite, coarse, largest] = [0, 0, 0];
  for (let i = 0; i < count; i++) {
    const magnitude = Math.abs(Number(data[i]));
    if (magnitude > largest && magnitude < Infinity) largest = magnitude;
    if (magnitude > LARGEST && magnitude < Infinity) infinite++;
    else if (isCoarse(magnitude)) coarse++;
  }
  if (infinite === 0 && coarse <= COARSE_SHARE * count) return undefined;
  return { infinite, coarse, largest };
}

function isCoarse(magnitude: number): boolean {
  if (!(magnitude > 0 && magnitude < LEAST_NORMAL)) return false;
  const error = Math.abs(float16ToNumber(numberToFloat16(magnitude)) - magnitude);
  return error > COARSE * magnitude;
}

/** The places of the instructions that read each constant. */
function constantReaders(executable: Executable): ReadonlyMap<number, ReadonlySet<string>> {
  const readers = new Map<number, Set<string>>();
  for (const { name, codeStart, codeLength } of executable.functions) {
    let at = 0;
    for (const { operands } of decodeRange(executable.code, codeStart, codeStart + codeLength)) {
      for (const operand of operands) {
        if (argumentKind(operand) !== ArgumentKind.constant) continue;
        const places = executable.sourceMap?.at(name, at) ?? [];
        const known = readers.get(argumentValue(operand)) ?? new Set();
        for (const place of places) known.add(formatPlace(place));
        readers.set(argumentValue(operand), known);
      }
      at++;
    }
  }
  return readers;
}
