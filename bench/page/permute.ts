interface Dense {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** A tensor with its axes in the order `perm`. */
export function permute({ shape, data }: Dense, perm: readonly number[]): Dense {
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  const outShape = perm.map((axis) => shape[axis] ?? 1);
  const outStrides = perm.map((axis) => strides[axis] ?? 1);
  const index = outShape.map(() => 0);
  let source = 0;
  const out = new Float32Array(data.length);
  for (let i = 0; i < out.length; i++) {
    out[i] = data[source] ?? Number.NaN;
    for (let axis = index.length - 1; axis >= 0; axis--) {
      const next = (index[axis] ?? 0) + 1;
      const stride = outStrides[axis] ?? 0;
      source += stride;
      if (next < (outShape[axis] ?? 0)) {
        index[axis] = next;
        break;
      }
      source -= next * stride;
      index[axis] = 0;
    }
  }
  return { shape: outShape, data: out };
}
