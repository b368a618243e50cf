import { formatDim, sameDim } from '../../core/dim.ts';
import type { TensorType } from '../../core/primitive-function.ts';
import { formatShape } from '../../core/shape.ts';

/** The type of an expression. Dimensions of tensors may be symbolic. */
export type Type = TensorTypeNode | TupleTypeNode | FunctionTypeNode;

export interface TensorTypeNode extends TensorType {
  readonly kind: 'tensor';
}

export interface TupleTypeNode {
  readonly kind: 'tuple';
  readonly fields: readonly Type[];
}

export interface FunctionTypeNode {
  readonly kind: 'function';
  readonly params: readonly Type[];
  readonly result: Type;
}

export function tensorType({ dtype, shape }: TensorType): TensorTypeNode {
  return { kind: 'tensor', dtype, shape };
}

/** `Tensor[(1, n), float32]`, `(A, B)`, `fn (A) -> B`: as Relay prints types. */
export function formatType(type: Type): string {
  switch (type.kind) {
    case 'tensor':
      return `Tensor[${formatShape(type.shape.map(formatDim))}, ${type.dtype}]`;
    case 'tuple': {
      const fields = type.fields.map(formatType);
      return fields.length === 1 ? `(${fields[0]},)` : `(${fields.join(', ')})`;
    }
    case 'function':
      return `fn (${type.params.map(formatType).join(', ')}) -> ${formatType(type.result)}`;
    default:
      return type satisfies never;
  }
}

export function sameType(a: Type, b: Type): boolean {
  switch (a.kind) {
    case 'tensor':
      return (
        b.kind === 'tensor' &&
        a.dtype === b.dtype &&
        a.shape.length === b.shape.length &&
        a.shape.every((dim, axis) => sameDim(dim, b.shape[axis] ?? -1))
      );
    case 'tuple':
      return b.kind === 'tuple' && sameTypes(a.fields, b.fields);
    case 'function':
      return b.kind === 'function' && sameTypes(a.params, b.params) && sameType(a.result, b.result);
    default:
      return a satisfies never;
  }
}

function sameTypes(a: readonly Type[], b: readonly Type[]): boolean {
  return (
    a.length === b.length &&
    a.every((type, i) => {
      const other = b[i];
      return other !== undefined && sameType(type, other);
    })
  );
}
