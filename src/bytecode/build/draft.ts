import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import type {
  BytecodeFunction,
  Constant,
  ExecutableData,
  FunctionEntry,
  FunctionSignature,
  ProgramTypes,
  ShapeProgram,
  TensorConstant,
} from '../executable.ts';
import type { ArgumentKindName, InstructionSpec } from '../isa.ts';
import * as isa from '../isa.ts';
import type { SourcePlace } from '../../core/contracts/source-place.ts';
import { encodeSourceMap } from '../file/encode-source-map.ts';
import { TensorPieces } from '../text/tensor-pieces.ts';
import { type ByteRange, dataByteLengthOf, layoutTensors } from '../file/data-layout.ts';

/**
 * An executable under construction: jumps go to labels, tensors are held whole, registers may have
 * any number.
 */
export interface Draft {
  readonly functions: readonly DraftFunction[];
  readonly functionTable: readonly FunctionEntry[];
  readonly constants: readonly DraftConstant[];
  readonly primitives: readonly PrimitiveFunction[];
  readonly shapePrograms: readonly ShapeProgram[];
  readonly types?: ProgramTypes;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface DraftFunction {
  readonly name: string;
  readonly paramNames: readonly string[];
  readonly signature?: FunctionSignature | undefined;
  readonly instructions: readonly DraftInstruction[];
  /** Label `i` stands before instruction `labels[i]`. */
  readonly labels: readonly number[];
}

export interface DraftInstruction {
  readonly spec: InstructionSpec;
  /** Argument words; the index of a label where the table says `offset`. */
  readonly operands: readonly number[];
  /** Where it comes from in the source. */
  readonly places?: readonly SourcePlace[];
}

export type DraftConstant =
  | Exclude<Constant, TensorConstant>
  | { readonly kind: 'tensor'; readonly tensor: HostTensor; readonly device?: 'host' };

/** The parts of an executable: the program and its data section. */
export interface Assembled {
  readonly program: ExecutableData;
  /** In pieces where it is too large for one array. */
  readonly data: Uint8Array | TensorPieces;
}

/** Encodes the code, patches the jumps and lays out the data section. */
export function assemble(draft: Draft): Assembled {
  const words: number[] = [];
  const functions: BytecodeFunction[] = [];
  for (const fn of draft.functions) {
    const codeStart = words.length;
    for (const word of functionWords(fn)) words.push(word);
    functions.push({
      name: fn.name,
      paramNames: fn.paramNames,
      registerCount: registerCount(fn),
      codeStart,
      codeLength: words.length - codeStart,
      ...(fn.signature === undefined ? {} : { signature: fn.signature }),
    });
  }
  const { constants, data } = layOutConstants(draft.constants);
  const { functionTable, primitives, shapePrograms, types, metadata } = draft;
  const code = Uint32Array.from(words);
  const dataByteLength = data.byteLength;
  const program = { functions, code, functionTable, constants, primitives, shapePrograms };
  const typed = types === undefined ? {} : { types };
  const sourceMapBytes = encodeSourceMap(
    draft.functions.map(({ instructions }) => instructions.map(({ places = [] }) => places)),
  );
  const mapped = sourceMapBytes === undefined ? {} : { sourceMapBytes };
  return { program: { ...program, ...typed, ...mapped, metadata, dataByteLength }, data };
}

function functionWords(fn: DraftFunction): number[] {
  const starts = [0];
  for (const { spec, operands } of fn.instructions) {
    const length = 1 + operands.length + (spec.variadic === undefined ? 0 : 1);
    starts.push((starts.at(-1) ?? 0) + length);
  }
  return fn.instructions.flatMap(({ spec, operands }, index) => {
    const patched = operands.map((word, position) => {
      if (isa.operandSpec(spec, position).kind !== 'offset') return word;
      const target = starts[fn.labels[word] ?? -1] ?? 0;
      return target - (starts[index] ?? 0);
    });
    return isa.encodeInstruction(spec, patched);
  });
}

function registerCount(fn: DraftFunction): number {
  let count = fn.paramNames.length;
  for (const register of registersOf(fn)) count = Math.max(count, register + 1);
  return count;
}

/** The registers that a function mentions, with repetitions, in order; not `%void` and `%vm`. */
export function* registersOf(fn: DraftFunction): Generator<number, void> {
  for (const { spec, operands } of fn.instructions) {
    for (const [position, word] of operands.entries()) {
      if (isa.operandSpec(spec, position).kind === 'offset') continue;
      if (isa.argumentKind(word) !== isa.ArgumentKind.register) continue;
      const register = isa.argumentValue(word);
      if (register < isa.VM_REGISTER) yield register;
    }
  }
}

/** A copy of a function with other numbers in its argument words, by kind. */
export function mapArguments(
  fn: DraftFunction,
  maps: Partial<Readonly<Record<ArgumentKindName, (value: number) => number>>>,
): DraftFunction {
  const mapWord = (word: number): number => {
    for (const name of isa.ARGUMENT_KINDS) {
      if (isa.argumentKind(word) !== isa.ArgumentKind[name]) continue;
      const map = maps[name];
      return map === undefined ? word : isa.encodeArgument(name, map(isa.argumentValue(word)));
    }
    return word;
  };
  const instructions = fn.instructions.map(
    (instruction): DraftInstruction => ({
      ...instruction,
      operands: instruction.operands.map((word, position) =>
        isa.operandSpec(instruction.spec, position).kind === 'offset' ? word : mapWord(word),
      ),
    }),
  );
  return { ...fn, instructions };
}

function layOutConstants(drafts: readonly DraftConstant[]): {
  constants: Constant[];
  data: Uint8Array | TensorPieces;
} {
  const tensors = drafts.flatMap((draft) => (draft.kind === 'tensor' ? [draft.tensor] : []));
  const ranges = layoutTensors(tensors.map(({ storedByteLength }) => storedByteLength));
  let next = 0;
  const constants = drafts.map((draft): Constant => {
    if (draft.kind !== 'tensor') return draft;
    const { dtype, shape, isSplat } = draft.tensor;
    const range = ranges[next++] ?? { byteOffset: 0, byteLength: 0 };
    const device = draft.device === undefined ? {} : { device: draft.device };
    return { kind: 'tensor', dtype, shape, isSplat, ...device, ...range };
  });
  const data = dataSection(tensors, ranges);
  return { constants, data };
}

/** A data section beyond this is not put together in memory if parts of it lie in files. */
const MAX_ASSEMBLED_BYTES = 2 ** 29;

function dataSection(
  tensors: readonly HostTensor[],
  ranges: readonly ByteRange[],
): Uint8Array | TensorPieces {
  const byteLength = dataByteLengthOf(ranges);
  const pieces = tensors.map((tensor, i) => ({ tensor, byteOffset: ranges[i]?.byteOffset ?? 0 }));
  if (byteLength > MAX_ASSEMBLED_BYTES && tensors.some(({ isLazy }) => isLazy)) {
    return new TensorPieces(pieces, byteLength);
  }
  const data = new Uint8Array(byteLength);
  for (const { tensor, byteOffset } of pieces) {
    data.set(tensor.storedBytes(0, tensor.storedByteLength), byteOffset);
  }
  return data;
}
