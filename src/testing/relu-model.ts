/** An ONNX model of one node: `y = Relu(x)`, float32 [1, 4], or of another operator. Field numbers are those of onnx.proto. */
export function reluModel(operator = 'Relu'): Buffer {
  const dim = (size: number): Buffer => field(1, field(1, size));
  const tensorType = Buffer.concat([field(1, 1), field(2, Buffer.concat([dim(1), dim(4)]))]);
  const value = (name: string): Buffer =>
    Buffer.concat([field(1, name), field(2, field(1, tensorType))]);
  const node = Buffer.concat([
    field(1, 'x'),
    field(2, 'y'),
    field(3, 'relu_0'),
    field(4, operator),
  ]);
  const graph = Buffer.concat([
    field(1, node),
    field(2, 'graph'),
    field(11, value('x')),
    field(12, value('y')),
  ]);
  return Buffer.concat([field(1, 8), field(7, graph), field(8, field(2, 13))]);
}

/** One protobuf field: a varint below 128, a string or a message below 128 bytes. */
function field(number: number, value: number | string | Buffer): Buffer {
  if (typeof value === 'number') return Buffer.from([number << 3, value]);
  const bytes = Buffer.from(value);
  if (bytes.length > 127) throw new Error('the model is too large for one-byte lengths');
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
}
