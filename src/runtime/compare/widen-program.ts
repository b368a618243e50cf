import type {
  Constant,
  ExecutableData,
  FullType,
  NamedFunctionType,
  ProgramTypes,
  ValueType,
} from '../../bytecode/executable.ts';
import { blocksOf } from '../../bytecode/file/blocks-of.ts';
import {
  type DataBlock,
  dataByteLengthOf,
  layoutTensors,
} from '../../bytecode/file/data-layout.ts';
import { type TensorPiece, TensorPieces } from '../../bytecode/text/tensor-pieces.ts';
import type { DType } from '../../core/tensor/dtype.ts';
import { UnsupportedError } from '../../core/errors.ts';
import { float16ToNumber } from '../../core/tensor/float16.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type {
  Attributes,
  AttributeValue,
  OperatorCall,
  PrimitiveFunction,
  TensorType,
} from '../../core/contracts/primitive-function.ts';

export type ProgramInMemory = ExecutableData & { blocks(): Iterable<DataBlock> };

/**
 * The same instructions with float32 wherever a program has float16; `constants` are its tensors, by their index in the
 * pool. It runs on machines with the option `widened`, since its tensors are larger than planned. Throws UnsupportedError
 * for a program that takes float16 apart into bits.
 */
export function widenProgram(
  program: ExecutableData,
  constants: ReadonlyMap<number, HostTensor>,
): ProgramInMemory {
  const { types } = program;
  const wide: ExecutableData = {
    ...program,
    ...(types && { types: widenTypes(types) }),
    constants: program.constants.map(
      (constant): Constant =>
        constant.kind === 'dtype' ? { kind: 'dtype', value: widenDType(constant.value) } : constant,
    ),
    primitives: program.primitives.map(widenPrimitive),
    functions: program.functions.map((fn) =>
      fn.signature === undefined
        ? fn
        : {
            ...fn,
            signature: {
              params: fn.signature.params.map(widenValueType),
              results: fn.signature.results.map(({ name, type }) => ({
                name,
                type: widenValueType(type),
              })),
            },
          },
    ),
  };
  return withTensors(wide, (index) => widenTensor(constants.get(index)));
}

/** The constants that a widened program has in place of the dtype float16, by their index. */
export function widenedDTypes({ constants }: ExecutableData): ReadonlySet<number> {
  const indices = [...constants.entries()].flatMap(([index, constant]) =>
    constant.kind === 'dtype' && constant.value === 'float16' ? [index] : [],
  );
  return new Set(indices);
}

/** The same program, with its constants in memory as they are. */
export function programInMemory(
  program: ExecutableData,
  constants: ReadonlyMap<number, HostTensor>,
): ProgramInMemory {
  return withTensors(program, (index) => constants.get(index));
}

/** A tensor of float16 as one of float32, any other as it is. */
export function widenTensor(tensor: HostTensor): HostTensor;
export function widenTensor(tensor: HostTensor | undefined): HostTensor | undefined;
export function widenTensor(tensor: HostTensor | undefined): HostTensor | undefined {
  if (tensor?.dtype !== 'float16') return tensor;
  const values = Float32Array.from(tensor.elements as Uint16Array, float16ToNumber);
  return new HostTensor('float32', tensor.shape, values, tensor.isSplat);
}

/** An argument as a program in float32 takes it. */
export const widenArgument = (arg: HostTensor | number): HostTensor | number =>
  typeof arg === 'number' ? arg : widenTensor(arg);

const widenDType = (dtype: DType): DType => (dtype === 'float16' ? 'float32' : dtype);

const widenType = <T extends TensorType>(type: T): T => ({
  ...type,
  dtype: widenDType(type.dtype),
});

const widenValueType = (type: ValueType): ValueType =>
  type.kind === 'tensor' ? widenType(type) : type;

function widenTypes({ dataTypes, functions, packed }: ProgramTypes): ProgramTypes {
  const widenFunction = (fn: NamedFunctionType): NamedFunctionType => ({
    ...fn,
    params: fn.params.map(widenFullType),
    result: widenFullType(fn.result),
  });
  return {
    dataTypes: dataTypes.map((type) => ({
      ...type,
      constructors: type.constructors.map((constructor) => ({
        ...constructor,
        fields: constructor.fields.map(widenFullType),
      })),
    })),
    functions: functions.map(widenFunction),
    packed: packed.map(widenFunction),
  };
}

function widenFullType(type: FullType): FullType {
  switch (type.kind) {
    case 'tensor':
      return widenType(type);
    case 'tuple':
      return { ...type, fields: type.fields.map(widenFullType) };
    case 'adt':
      return { ...type, args: type.args.map(widenFullType) };
    case 'function':
      return {
        ...type,
        params: type.params.map(widenFullType),
        result: widenFullType(type.result),
      };
    default:
      return type;
  }
}

function widenPrimitive(primitive: PrimitiveFunction): PrimitiveFunction {
  const isHalf = ({ dtype }: TensorType): boolean => dtype === 'float16';
  const bits = primitive.body.find(({ op }) => op === 'bitcast');
  const hasHalves =
    primitive.params.some(isHalf) || primitive.results.some(({ type }) => isHalf(type));
  if (bits !== undefined && hasHalves) {
    throw new UnsupportedError({
      where: `kernel ${primitive.name}`,
      got: 'a bitcast of float16',
      expected: 'a program that computes with the values of float16, not with their bits',
    });
  }
  return {
    ...primitive,
    params: primitive.params.map(widenType),
    results: primitive.results.map(({ value, type }) => ({ value, type: widenType(type) })),
    body: primitive.body.map(
      (call): OperatorCall => ({ ...call, attributes: widenAttributes(call.attributes) }),
    ),
  };
}

/** Types of elements among attributes are their names. */
function widenAttributes(attributes: Attributes): Attributes {
  const entries = Object.entries(attributes).map(([name, value]): [string, AttributeValue] => [
    name,
    value === 'float16' ? 'float32' : value,
  ]);
  return Object.fromEntries(entries);
}

/** A program whose constants are tensors in memory, one behind the other in a data section of their own. */
function withTensors(
  program: ExecutableData,
  tensorOf: (index: number) => HostTensor | undefined,
): ProgramInMemory {
  const placed = program.constants.flatMap((constant, index) => {
    const tensor = constant.kind === 'tensor' ? tensorOf(index) : undefined;
    return tensor === undefined ? [] : [{ index, tensor }];
  });
  const ranges = layoutTensors(placed.map(({ tensor }) => tensor.storedByteLength));
  const constants = [...program.constants];
  const pieces = placed.map(({ index, tensor }, i): TensorPiece => {
    const constant = constants[index];
    const range = ranges[i] ?? { byteOffset: 0, byteLength: 0 };
    const { dtype, isSplat } = tensor;
    if (constant?.kind === 'tensor') constants[index] = { ...constant, dtype, isSplat, ...range };
    return { byteOffset: range.byteOffset, tensor };
  });
  const dataByteLength = dataByteLengthOf(ranges);
  const data = new TensorPieces(pieces, dataByteLength);
  return { ...program, constants, dataByteLength, blocks: () => blocksOf(data) };
}
