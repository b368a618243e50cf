import { tensorType, type Type } from '../../../compiler/ir/type.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import { listType, OPEN_TYPE, optionType } from '../composite-values.ts';
import { dtypeFromOnnx } from '../protobuf/read-tensor.ts';
import type { Message, TypeProto } from '../protobuf/schema.ts';

/** Names that exporters give to each size that they do not know. */
const UNKNOWN = /^(-\d+|\?|\*|None)?$/;

/** The size or its name; undefined for an unknown one, which is another one at every place. */
export function declaredDim({
  dimValue,
  dimParam = '',
}: Message<'DimensionProto'>): number | string | undefined {
  if (dimValue !== undefined) return dimValue < 0 ? undefined : dimValue;
  return UNKNOWN.test(dimParam) ? undefined : dimParam;
}

/**
 * The type that a model declares for elements of data; open where it does not say the rank, undefined for maps and
 * sparse tensors. `sizeOf` gives the size that a name stands for, if it stands for one.
 *
 * Throws UnsupportedError for strings, FormatError for an element type that does not exist.
 */
export function declaredDataType(
  type: TypeProto | undefined,
  where: string,
  sizeOf: (name: string) => Dim = () => '?',
): Type | undefined {
  if (type === undefined) return OPEN_TYPE;
  const { tensorType: tensor, sequenceType: sequence, optionalType: optional } = type;
  if (tensor !== undefined) {
    const dtype = dtypeFromOnnx(tensor.elemType, where);
    if (tensor.shape === undefined) return OPEN_TYPE;
    const shape = tensor.shape.dim.map((declared): Dim => {
      const dim = declaredDim(declared) ?? '?';
      return typeof dim === 'number' || dim === '?' ? dim : sizeOf(dim);
    });
    return tensorType({ dtype, shape });
  }
  const outer = sequence ?? optional;
  const inner = outer && declaredDataType(outer.elemType, where, sizeOf);
  if (inner === undefined) return undefined;
  return sequence === undefined ? optionType(inner) : listType(inner);
}
