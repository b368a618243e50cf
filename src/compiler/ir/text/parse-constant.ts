import { parseBase64 } from '../../../bytecode/text/tensor-text.ts';
import { concreteShape } from '../../../core/dims/dim.ts';
import { dtypeInfo } from '../../../core/tensor/dtype.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { elementCount } from '../../../core/tensor/shape.ts';
import { parseSplat } from './parse-literal.ts';
import { parseType, type TypeContext } from './parse-type.ts';
import { sub, type Task } from '../task.ts';

/** `Tensor[(2, 3), float32] = 1f` (every element) or `… = base64 "…" "…"`, an entry of the metadata section. */
export function* parseConstant(context: TypeContext): Task<HostTensor> {
  const { cursor } = context;
  const start = cursor.peek();
  const type = yield* sub(parseType(context));
  const shape = type.kind === 'tensor' ? concreteShape(type.shape) : undefined;
  if (type.kind !== 'tensor' || shape === undefined || shape.some((dim) => dim < 0)) {
    throw cursor.unexpected('a tensor type of known dimensions', { token: start });
  }
  if (!cursor.accept('=')) {
    const remedy = "This text was printed without its data; print it with { data: 'full' }.";
    throw cursor.unexpected('"=" and the elements', { remedy });
  }
  const isSplat = cursor.accept('splat');
  if (!cursor.at('base64')) return parseSplat(cursor, type.dtype, shape);
  cursor.next();
  const stored = isSplat ? [] : shape;
  const byteLength = elementCount(stored) * dtypeInfo(type.dtype).byteLength;
  const { elements } = HostTensor.fromBytes(type.dtype, stored, readBytes(context, byteLength));
  return new HostTensor(type.dtype, shape, elements, isSplat);
}

/** Strings of base64 up to the end of the entry. */
function readBytes({ cursor }: TypeContext, byteLength: number): Uint8Array {
  const start = cursor.peek();
  const pieces: Uint8Array[] = [];
  let got = 0;
  while (cursor.peek().kind === 'string') {
    const token = cursor.next();
    const piece = parseBase64(token.text);
    if (piece === undefined) throw cursor.unexpected('base64', { token });
    pieces.push(piece);
    got += piece.length;
  }
  if (got !== byteLength) {
    throw cursor.unexpected(`base64 of ${byteLength} bytes, not ${got}`, { token: start });
  }
  const bytes = new Uint8Array(byteLength);
  let position = 0;
  for (const piece of pieces) {
    bytes.set(piece, position);
    position += piece.length;
  }
  return bytes;
}
