import { type Dim, DIM_SIGNS } from '../../core/dims/dim.ts';
import type { AttributeValue, TensorType } from '../../core/contracts/primitive-function.ts';
import type {
  DataType,
  FullType,
  FunctionSignature,
  NamedFunctionType,
  ProgramTypes,
  ValueType,
} from '../executable.ts';
import { attributeKind } from '../file/file-format.ts';
import { formatName, formatNumber } from './text-format.ts';

const PLAIN_SYMBOL = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** `n`, `(n + 1)`, `max(n, 2)`; symbols that are not plain are quoted. */
function printDim(dim: Dim): string {
  if (typeof dim === 'number') return String(dim);
  if (typeof dim === 'string') {
    return dim === '?' || PLAIN_SYMBOL.test(dim) ? dim : JSON.stringify(dim);
  }
  const left = printDim(dim.left);
  const right = printDim(dim.right);
  const sign = DIM_SIGNS[dim.op];
  return sign === undefined ? `${dim.op}(${left}, ${right})` : `(${left} ${sign} ${right})`;
}

/** `(2, 3)`, `(n,)`, `()`. */
export function printShape(shape: readonly Dim[]): string {
  const dims = shape.map(printDim).join(', ');
  return shape.length === 1 ? `(${dims},)` : `(${dims})`;
}

/** `Tensor[(n, 3), float32]`. */
export function printTensorType({ dtype, shape }: TensorType): string {
  return `Tensor[${printShape(shape)}, ${dtype}]`;
}

export function printValueType(type: ValueType): string {
  return printFullType(type);
}

/** `Tensor[(n,), float32]`, `(A, B)`, `List[A]`, `fn (A) -> B`. */
function printFullType(type: FullType): string {
  switch (type.kind) {
    case 'tensor':
      return printTensorType(type);
    case 'tuple': {
      const fields = type.fields.map(printFullType);
      return fields.length === 1 ? `(${fields[0]},)` : `(${fields.join(', ')})`;
    }
    case 'adt': {
      const args = type.args.map(printFullType).join(', ');
      return `data ${formatName(type.name)}${args === '' ? '' : `[${args}]`}`;
    }
    case 'function':
      return `fn (${type.params.map(printFullType).join(', ')}) -> ${printFullType(type.result)}`;
    case 'type-param':
      return `'${formatName(type.name)}`;
    case 'opaque':
      return `opaque ${formatName(type.name)}`;
    default:
      return type.kind;
  }
}

/** The lines of the section `types` of a listing. */
export function printProgramTypes({ dataTypes, functions, packed }: ProgramTypes): string[] {
  const named = (word: string) => (type: NamedFunctionType) =>
    `${word} ${formatName(type.name)}${printFullType({ kind: 'function', ...type }).slice(2)}`;
  return [
    ...dataTypes.map(printDataType),
    ...functions.map(named('func')),
    ...packed.map(named('packed')),
  ];
}

/** `data List['A] { Cons('A, data List['A]) = 0, Nil = 1 }` */
function printDataType({ name, params, constructors }: DataType): string {
  const binder =
    params.length === 0 ? '' : `[${params.map((param) => `'${formatName(param)}`).join(', ')}]`;
  const items = constructors.map(({ name, tag, fields }) => {
    const types = fields.length === 0 ? '' : `(${fields.map(printFullType).join(', ')})`;
    return `${formatName(name)}${types} = ${tag}`;
  });
  return `data ${formatName(name)}${binder} { ${items.join(', ')} }`;
}

/** `(x: int, y: any) -> (z: float)`, or names alone without a signature. */
export function printSignature(
  paramNames: readonly string[],
  signature: FunctionSignature | undefined,
): string {
  const names = paramNames.map(formatName);
  if (signature === undefined) return `(${names.join(', ')})`;
  const params = signature.params.map((type, i) => `${names[i]}: ${printValueType(type)}`);
  const results = signature.results.map(
    ({ name, type }) => `${formatName(name)}: ${printValueType(type)}`,
  );
  return `(${params.join(', ')}) -> (${results.join(', ')})`;
}

/** `1`, `"same"`, `true`, `[1, 2]`; dimensions of which not all are numbers as a shape. */
export function printAttribute(value: AttributeValue): string {
  if (typeof value === 'object') {
    const items: readonly Dim[] = value;
    if (attributeKind(value) === 'dims') return printShape(items);
    return `[${items.map((item) => (typeof item === 'object' ? printDim(item) : printAttribute(item))).join(', ')}]`;
  }
  if (typeof value === 'string') return JSON.stringify(value);
  return typeof value === 'number' ? formatNumber(value) : String(value);
}
