import type { Expr } from '../../../../compiler/ir/expr.ts';
import { countElements } from '../../../../core/dims/dim-context.ts';
import type { DType } from '../../../../core/tensor/dtype.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import { alongAxis, indicesInput } from '../../sizes/check-indices.ts';
import type { ImportNode, NodeImporter } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { cast } from '../elementwise/elementwise.ts';
import { axisSize } from '../indexing/indexing.ts';
import {
  importSimplifiedLayerNormalization,
  inverseRms,
  scaleAndShift,
  statistics,
} from './normalization.ts';
import { softmaxOf } from './softmax.ts';

/** Outputs: the result, mean, 1 / deviation, and what was normalised: input + skip + bias. */
const skipNormalization =
  (op: 'layer_norm' | 'rms_norm'): NodeImporter =>
  (node) => {
    const isCentered = op === 'layer_norm';
    const epsilon = node.attributes.float('epsilon', 1e-12);
    const [shift, bias] = isCentered ? node.inputs.slice(3) : [undefined, node.inputs[3]];
    const skipped = node.call('add', [node.input(0), node.input(1)]);
    const sum = bias === undefined ? skipped : node.call('add', [skipped, bias]);
    const normal = node.call(op, [sum], { epsilon });
    const result = scaleAndShift(node, normal, [node.input(2), shift]);
    if (node.outputCount < 2) return [result];
    const over = { axes: [node.shape(sum).length - 1], epsilon };
    const [mean, inverse] = statistics(node, sum, over);
    return [result, mean, isCentered ? inverse : inverseRms(node, sum, over), sum];
  };

/**
 * Embeddings of words, positions and segments, summed and normalised. Outputs: the result, the
 * number of tokens of each sequence that the mask leaves, and the sum.
 */
function importEmbedLayerNormalization(node: ImportNode): readonly Expr[] {
  node.attributes.ignore('mask_index_type');
  const epsilon = node.attributes.float('epsilon', 1e-12);
  const ids = indicesInput(node, 0, alongAxis(node, axisSize(node, node.input(2), 0)));
  const [batch = 1, length = 1] = node.shape(ids);
  const [mask, segmentTable] = [node.inputs[7], node.inputs[4]];
  const rowsOf = (index: number, rows: Expr): Expr | undefined =>
    node.inputs[index] && indicesInput(node, index, alongAxis(node, axisSize(node, rows, 0)));
  const segments = segmentTable && rowsOf(1, segmentTable);
  const positions = rowsOf(8, node.input(3));
  const words = node.call('gather', [node.input(2), ids], { axis: 0 });
  const table = node.input(3);
  const [, hidden = 1] = node.shape(table);
  const places =
    positions === undefined
      ? node.call('slice', [table], { starts: [0, 0], ends: [length, hidden], steps: [1, 1] })
      : node.call('gather', [table, positions], { axis: 0 });
  let sum = node.call('add', [words, places]);
  if (segments !== undefined && segmentTable !== undefined) {
    sum = node.call('add', [sum, node.call('gather', [segmentTable, segments], { axis: 0 })]);
  }
  const normal = node.call('layer_norm', [sum], { epsilon });
  const result = scaleAndShift(node, normal, [node.input(5), node.input(6)]);
  if (node.outputCount < 2) return [result];
  const counts =
    mask === undefined
      ? node.call('broadcast_to', [node.constant(HostTensor.zeros('int32', [1]))], {
          shape: [batch],
        })
      : node.call('reduce_sum', [mask], { axes: [1], keepdims: false });
  return [result, counts, sum];
}

/** Softmax over all axes from one on, of a sum that broadcasts as `add` does, whichever way is_inner_broadcast names. */
function importBiasSoftmax(node: ImportNode): Expr {
  node.attributes.ignore('is_inner_broadcast');
  const sum = node.call('add', [node.input(0), node.input(1)]);
  return softmaxOf(node, sum, { axis: node.attributes.int('axis', 1), opset: 1 });
}

export const MICROSOFT_NORMALIZATION_IMPORTERS: OperatorImporters = {
  BiasSoftmax: since(1, 'softmax add reshape', importBiasSoftmax),
  GatedRMSNorm: since(1, 'rms_norm cast reshape mul sigmoid', importGatedRmsNorm),
  GroupNorm: since(1, 'layer_norm reshape transpose cast mul add sigmoid', importGroupNorm),
  SkipGroupNorm: since(1, 'layer_norm add reshape transpose cast mul sigmoid', importSkipGroupNorm),
  EmbedLayerNormalization: since(
    1,
    'layer_norm gather add mul slice reduce_sum broadcast_to',
    importEmbedLayerNormalization,
  ),
  SimplifiedLayerNormalization: since(1, 'rms_norm mul', importSimplifiedLayerNormalization),
  SkipLayerNormalization: since(1, 'layer_norm add mul', skipNormalization('layer_norm')),
  SkipSimplifiedLayerNormalization: since(1, 'rms_norm add mul', skipNormalization('rms_norm')),
};

/**
 * x / root of the mean of squares * scale * SiLU(gate), in rows as long as the scale, in float32 at least: A. Gu and T.
 * Dao, "Mamba" (2023), as the layers of S. Yang et al., "Gated Delta Networks" (2024) have it.
 */
function importGatedRmsNorm(node: ImportNode): Expr {
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

/** GroupNorm of ONNX Runtime: x, scale and shift of each channel. */
function importGroupNorm(node: ImportNode): Expr {
  return groupNorm(node, node.input(0));
}

/** The same of x + skip + bias, which is the second output. */
function importSkipGroupNorm(node: ImportNode): readonly Expr[] {
  const [x, skip, bias] = [node.input(0), node.input(3), node.inputs[4]];
  const shape = node.shape(x);
  const [batch = 1, ...others] = node.shape(skip);
  // One value for each channel of an image.
  const isFlat = others.length === 1;
  const spatial = shape.slice(2).map(() => 1);
  const channels = others.at(-1) ?? 1;
  const wide = isLast(node) ? [batch, ...spatial, channels] : [batch, channels, ...spatial];
  const skipped = node.call('add', [x, isFlat ? node.reshape(skip, wide) : skip]);
  const sum =
    bias === undefined
      ? skipped
      : node.call('add', [skipped, overChannels(node, bias, shape.length)]);
  return [groupNorm(node, sum), sum];
}

function isLast(node: ImportNode): boolean {
  return node.attributes.bool('channels_last', true);
}

/** A vector of the channels, to broadcast over a tensor of a rank. */
function overChannels(node: ImportNode, vector: Expr, rank: number): Expr {
  if (isLast(node)) return vector;
  return node.reshape(vector, [...node.shape(vector), ...new Array<number>(rank - 2).fill(1)]);
}

function groupNorm(node: ImportNode, x: Expr): Expr {
  const { attributes, dims } = node;
  const groups = attributes.int('groups', 0);
  if (groups < 1) throw node.malformed(`groups ${groups}`, '1 or more');
  const epsilon = attributes.float('epsilon', 1e-5);
  const activation = attributes.int('activation', 0);
  if (activation !== 0 && activation !== 1) {
    throw node.malformed(`activation ${activation}`, '0 for none or 1 for SiLU');
  }
  const shape = node.shape(x);
  const [batch = 1] = shape;
  const isChannelsLast = isLast(node);
  const channels = (isChannelsLast ? shape.at(-1) : shape[1]) ?? 1;
  const places = countElements(isChannelsLast ? shape.slice(1, -1) : shape.slice(2), dims);
  const each = dims.floordiv(channels, groups);
  const perm = [0, 2, 1, 3];
  const grouped = isChannelsLast
    ? node.call('transpose', [node.reshape(x, [batch, places, groups, each])], { perm })
    : x;
  const rows = node.reshape(grouped, [batch, groups, dims.mul(places, each)]);
  const normal = node.call('layer_norm', [rows], { epsilon });
  const split = (): Expr => node.reshape(normal, [batch, groups, places, each]);
  const ordered = isChannelsLast ? node.call('transpose', [split()], { perm }) : normal;
  const { dtype } = node.type(x);
  const [scale, shift] = [1, 2].map((index) =>
    cast(node, overChannels(node, node.input(index), shape.length), dtype),
  );
  if (scale === undefined || shift === undefined) throw new Error('internal: no parameters');
  const scaled = node.call('mul', [node.reshape(ordered, shape), scale]);
  const result = node.call('add', [scaled, shift]);
  return activation === 0 ? result : node.call('mul', [result, node.call('sigmoid', [result])]);
}
