import { mergeDraft, rewriteFields } from '../../src/frontend/onnx/protobuf/rewrite-fields.ts';
import { readMessage } from '../../src/frontend/onnx/protobuf/read-message.ts';
import { ONNX_SCHEMA } from '../../src/frontend/onnx/protobuf/schema.ts';

const { graph } = ONNX_SCHEMA.ModelProto;
const { input, output } = ONNX_SCHEMA.GraphProto;

/** int32 and int64: a list of them may be a shape, or name axes, and its length a rank. */
const INTEGERS: readonly (number | undefined)[] = [6, 7];

/**
 * The model with a name for each size of its inputs, lists of integers excepted, and without the sizes of its
 * outputs. (What it says of other values is not read.)
 */
export function unboundModel(bytes: Uint8Array): Uint8Array {
  return rewriteFields(bytes, {
    [graph[0]]: (written) => [
      rewriteFields(written, {
        [input[0]]: (value) => [
          withoutSizes(value, (name, axis) => ({ dimParam: `${name}_${axis}` })),
        ],
        [output[0]]: (value) => [withoutSizes(value, () => ({}))],
      }),
    ],
  });
}

/** A ValueInfoProto with other sizes of a tensor. */
function withoutSizes(
  bytes: Uint8Array,
  sizeOf: (name: string, axis: number) => { readonly dimParam?: string },
): Uint8Array {
  const { name = '', type } = readMessage('ValueInfoProto', bytes);
  const { elemType, shape } = type?.tensorType ?? {};
  const isList = INTEGERS.includes(elemType) && (shape?.dim.length ?? 0) < 2;
  if (shape === undefined || isList) return bytes;
  const dim = shape.dim.map((_, axis) => sizeOf(name, axis));
  return mergeDraft('ValueInfoProto', bytes, {
    type: { tensorType: { elemType, shape: { dim } } },
  });
}
