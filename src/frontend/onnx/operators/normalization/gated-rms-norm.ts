import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { DType } from '../../../../core/dtype.ts';
import type { ImportNode } from '../../import-node.ts';
import { cast } from '../elementwise/elementwise.ts';

/**
 * x / root of the mean of squares * scale * SiLU(gate), in rows as long as the scale, in float32 at least: A. Gu and T.
 * Dao, "Mamba" (2023), as the layers of S. Yang et al., "Gated Delta Networks" (2024) have it.
 */
export function importGatedRmsNorm(node: ImportNode): Expr {
  const { attributes, dims } = node;
  const activation = attributes.string('activation', 'silu');
  if (!['silu', 'swish', 'sigmoid'].includes(activation)) {
    throw node.malformed(`activation ${activation}`, 'silu, swish or sigmoid');
  }
  const x = node.input(0);
  const { dtype, shape } = node.type(x);
  const wide: DType = dtype === 'float64' ? dtype : 'float32';
  const scale = cast(node, node.input(1), wide);
  const gate = cast(node, node.input(2), wide);
  const [size = 1] = node.shape(scale);
  const width = shape.at(-1) ?? 1;
  const rows = [...shape.slice(0, -1), dims.floordiv(width, size), size];
  const normal = node.call('rms_norm', [node.reshape(cast(node, x, wide), rows)], {
    epsilon: attributes.float('epsilon', 1e-5),
  });
  const scaled = node.reshape(node.call('mul', [normal, scale]), shape);
  const open = node.call('sigmoid', [gate]);
  const factor = activation === 'sigmoid' ? open : node.call('mul', [gate, open]);
  return cast(node, node.call('mul', [scaled, factor]), dtype);
}
