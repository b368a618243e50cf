import { call, ifElse, int } from '../../../../compiler/ir/build.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { tensorType } from '../../../../compiler/ir/type.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { internalError } from '../../../../core/errors.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import { hostInteger } from '../../sizes/host-integer.ts';
import type { ImportNode } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { cast, number } from '../elementwise/elementwise.ts';
import { cutAlong, sliceAlong } from '../movement/slice-along.ts';

/** A product with a matrix of each expert. */
interface Layer {
  /** Of rows (tokens, k, inputs) by the matrices of experts (tokens, k): (tokens, k, outputs). */
  readonly ofChosen: (x: Expr, indices: Expr) => Expr;
  /** Of rows (1 or experts, tokens, inputs) by all matrices: (experts, tokens, outputs); undefined where nothing is gained by it. */
  readonly ofAll: ((x: Expr) => Expr) | undefined;
  /** The bias of each expert, (experts, outputs). */
  readonly bias: Expr | undefined;
}

interface Experts {
  readonly first: Layer;
  readonly second: Layer;
  /** The layer by whose result that of the first is multiplied. */
  readonly third: Layer | undefined;
}

/** The matrices of an input of floats: (experts, outputs, inputs). */
function floatLayer(node: ImportNode, weights: number, bias: number): Layer | undefined {
  const given = node.inputs[weights];
  if (given === undefined) return undefined;
  return {
    bias: node.inputs[bias],
    ofChosen(x, indices) {
      const chosen = node.call('gather', [given, indices], { axis: 0 });
      const matrices = cast(node, chosen, node.type(x).dtype);
      const column = node.reshape(x, [...node.shape(x), 1]);
      const y = node.call('matmul', [matrices, column]);
      return node.reshape(y, node.shape(y).slice(0, -1));
    },
    ofAll(x) {
      // The transpose of the product, for which no matrix has to be transposed.
      const turned = (y: Expr): Expr => node.call('transpose', [y], { perm: [0, 2, 1] });
      return turned(node.call('matmul', [cast(node, given, node.type(x).dtype), turned(x)]));
    },
  };
}

/** MoE: input, router_probs, weights and bias of three layers, of which the third may be missing. */
function importMoE(node: ImportNode): Expr {
  const [first, second, third] = [2, 4, 6].map((index) => floatLayer(node, index, index + 1));
  return mixture(node, { first, second, third });
}

/** Indices of the inputs of QMoE with the parts of a layer. */
interface QuantizedPlaces {
  readonly weights: number;
  readonly zeros: number;
}

/**
 * Matrices of codes of a few bits, the first in the lowest bits of a byte, with scales of rows or of blocks in them. Products
 * read the codes of the experts that are chosen: no matrix becomes floats.
 */
function quantizedLayer(node: ImportNode, { weights, zeros }: QuantizedPlaces): Layer | undefined {
  const given = node.inputs[weights];
  if (given === undefined) return undefined;
  const bits = node.attributes.int('expert_weight_bits', 4);
  if (![2, 4, 8].includes(bits)) throw node.unsupported(`${bits} bits`, '2, 4 or 8');
  const sizes = blocksOf(node, given, { scales: node.input(weights + 1), bits });
  const scales = cast(node, node.input(weights + 1), 'float32');
  const operands = [codesInBlocks(node, given, sizes), repeatedInBlocks(node, scales, sizes)];
  const zeroCodes = node.inputs[zeros];
  const zeroPoints = zeroCodes && zerosInBlocks(node, zeroCodes, sizes);
  return {
    bias: node.inputs[weights + 2],
    ofAll: undefined,
    ofChosen(x, indices) {
      const places = cast(node, indices, 'int32');
      const inputs = [cast(node, x, 'float32'), ...operands, places];
      const y = node.call('gather_matmul_nbits', zeroPoints ? [...inputs, zeroPoints] : inputs, {
        bits,
        block_size: sizes.blockSize,
      });
      return cast(node, y, node.type(x).dtype);
    },
  };
}

/** The sizes of a layer's codes. */
interface Blocks {
  readonly bits: number;
  readonly experts: Dim;
  readonly outputs: Dim;
  /** Scales of a row as they are given, and how often each is repeated. */
  readonly given: number;
  readonly repeats: number;
  /** Elements of a block, behind the repetition. */
  readonly blockSize: number;
  /** Bytes of a row as they are given. */
  readonly bytes: number;
}

const STEP = 16;
/** The largest block that kernels have code for. */
const LARGEST_BLOCK = 512;

function blocksOf(
  node: ImportNode,
  codes: Expr,
  { scales, bits }: { readonly scales: Expr; readonly bits: number },
): Blocks {
  const [experts = 1, outputs = 1, size = 1] = node.shape(codes);
  const bytes = node.number(size, 'the bytes of a row of codes');
  const [, , count = 1] = node.shape(scales);
  const given = node.number(count, 'the blocks of a row of codes');
  const common = { bits, experts, outputs, given, bytes };
  const ofScale = (bytes * (8 / bits)) / given;
  if (given === 1 && ofScale % STEP !== 0) {
    // Zeros behind the last codes count for nothing, since there are no inputs there.
    const blockSize = Math.min(LARGEST_BLOCK, Math.ceil(ofScale / STEP) * STEP);
    return { ...common, blockSize, repeats: Math.ceil(ofScale / blockSize) };
  }
  if (ofScale % STEP !== 0) {
    throw node.unsupported(`blocks of ${ofScale}`, `blocks of a multiple of ${STEP}`);
  }
  let blockSize = ofScale;
  for (let parts = 2; blockSize > LARGEST_BLOCK; parts++) {
    if (ofScale % (parts * STEP) === 0) blockSize = ofScale / parts;
  }
  return { ...common, blockSize, repeats: ofScale / blockSize };
}

/** (experts, outputs, blocks, bytes). */
function codesInBlocks(node: ImportNode, codes: Expr, sizes: Blocks): Expr {
  const { bits, experts, outputs, bytes, given, repeats, blockSize } = sizes;
  const blocks = given * repeats;
  const blockBytes = (blockSize * bits) / 8;
  const missing = blocks * blockBytes - bytes;
  const whole =
    missing === 0 ? codes : node.call('pad', [codes], { pads: [0, 0, 0, 0, 0, missing] });
  return node.reshape(whole, [experts, outputs, blocks, blockBytes]);
}

/**
 * Values of the given blocks, repeated for the blocks that each is split into: (experts, outputs,
 * blocks).
 */
function repeatedInBlocks(node: ImportNode, values: Expr, sizes: Blocks): Expr {
  const { experts, outputs, given, repeats } = sizes;
  const shape = [experts, outputs, given, repeats];
  const single = node.reshape(values, [experts, outputs, given, 1]);
  const repeated = repeats === 1 ? single : node.call('broadcast_to', [single], { shape });
  return node.reshape(repeated, [experts, outputs, given * repeats]);
}

/** Bit-packed as they are, where each row has whole bytes of its own; else one float for each block. */
function zerosInBlocks(node: ImportNode, zeros: Expr, sizes: Blocks): Expr {
  const { bits, experts, outputs, given, repeats } = sizes;
  const each = 8 / bits;
  const isOfRows = node.shape(zeros).length === 3;
  if (isOfRows && repeats === 1) return zeros;
  const codes = node.reshape(unpacked(node, zeros, bits), [
    experts,
    outputs,
    isOfRows ? Math.ceil(given / each) * each : given,
  ]);
  const own = isOfRows ? sliceAlong(node, codes, { axis: 2, start: 0, end: given }) : codes;
  return repeatedInBlocks(node, cast(node, own, 'float32'), sizes);
}

/** One code in each byte, in a row behind each other. */
function unpacked(node: ImportNode, bytes: Expr, bits: number): Expr {
  if (bits === 8) return bytes;
  const each = 8 / bits;
  const shifts = Array.from({ length: each }, (_, i) => i * bits);
  const places = node.constant(HostTensor.from('uint8', [each], shifts));
  const single = node.reshape(bytes, [...node.shape(bytes), 1]);
  const shifted = node.call('shift_right', [single, places]);
  return node.call('bitwise_and', [shifted, node.scalar(2 ** bits - 1, 'uint8')]);
}

/** QMoE: input, router_probs, codes, scales and bias of three layers, their zero points, shares in place of softmax. */
function importQMoE(node: ImportNode): Expr {
  // They say what the shapes of scales do.
  node.attributes.ignore('block_size', 'swiglu_interleaved');
  const [first, second, third] = [
    { weights: 2, zeros: 11 },
    { weights: 5, zeros: 12 },
    { weights: 8, zeros: 13 },
  ].map((places) => quantizedLayer(node, places));
  return mixture(node, { first, second, third });
}

/**
 * For each token the sum of what its best experts give, by their shares: N. Shazeer et al., "Outrageously large neural
 * networks" (2017). Tokens read the matrices of their experts alone where these are codes. Of floats a few tokens do; for
 * more of them all experts compute all tokens, and most results count for nothing.
 */
function mixture(node: ImportNode, given: { [Name in keyof Experts]: Layer | undefined }): Expr {
  const { attributes, dims } = node;
  if (attributes.bool('use_sparse_mixer')) throw node.unsupported('use_sparse_mixer', '0');
  const { first, second, third } = given;
  if (first === undefined || second === undefined) throw node.malformed('no weights', 'two layers');
  const experts = { first, second, third };
  const x = node.input(0);
  const { dtype, shape } = node.type(x);
  const width = shape.at(-1) ?? 1;
  const tokens = shape.slice(0, -1).reduce<Dim>((product, size) => dims.mul(product, size), 1);
  const rows = node.reshape(x, [tokens, width]);
  const { shares, indices, count } = routes(node, tokens);
  const best = node.number(node.shape(indices)[1] ?? 1, 'k');
  const mixed = (): Expr => mixAll(node, { rows, experts, shares, indices, count });
  const few = (): Expr => mixChosen(node, { rows, experts, shares, indices });
  if (first.ofAll === undefined) return node.reshape(few(), shape);
  const reads = dims.mul(tokens, best);
  if (typeof reads === 'number') {
    return node.reshape(reads <= count ? few() : mixed(), shape);
  }
  const isFew = call('int_lt', [hostInteger(reads, node.block.frame), int(count + 1)]);
  const type = tensorType({ dtype, shape: [tokens, width] });
  const either = node.block.bind(ifElse(isFew, few(), mixed()), {
    name: 'mixed',
    type,
    span: node.span,
  });
  return node.reshape(either, shape);
}

interface Routes {
  /** The routing weights of each token's best experts, (tokens, k). */
  readonly shares: Expr;
  /** Which these are, (tokens, k). */
  readonly indices: Expr;
  readonly count: number;
}

function routes(node: ImportNode, tokens: Dim): Routes {
  const logits = node.input(1);
  const count = node.number(node.shape(logits).at(-1) ?? 1, 'the number of experts');
  const k = node.attributes.int('k', 1);
  if (k < 1 || k > count) throw node.malformed(`k ${k}`, `1 to ${count}, the number of experts`);
  const scores = cast(node, node.reshape(logits, [tokens, count]), 'float32');
  const given = node.opType === 'QMoE' ? node.inputs[14] : undefined;
  const shares =
    given === undefined
      ? node.call('softmax', [scores], { axis: 1 })
      : cast(node, node.reshape(given, [tokens, count]), 'float32');
  const indices = node.call('top_k', [scores], { axis: 1, k: [k] });
  const best = node.call('gather_elements', [shares, indices], { axis: 1 });
  if (!node.attributes.bool('normalize_routing_weights')) return { shares: best, indices, count };
  const sum = node.call('reduce_sum', [best], { axes: [1], keepdims: true });
  return { shares: node.call('div', [best, sum]), indices, count };
}

interface Mixture {
  /** The tokens, (tokens, width). */
  readonly rows: Expr;
  readonly experts: Experts;
  readonly shares: Expr;
  readonly indices: Expr;
}

/** Multiplies each token by the matrices of its own experts: (tokens, width). */
function mixChosen(node: ImportNode, { rows, experts, shares, indices }: Mixture): Expr {
  const [tokens = 1, k = 1] = node.shape(indices);
  const {
    dtype,
    shape: [, width = 1],
  } = node.type(rows);
  const product = (x: Expr, { ofChosen, bias }: Layer): Expr => {
    const y = ofChosen(x, indices);
    if (bias === undefined) return y;
    const own = node.call('gather', [bias, indices], { axis: 0 });
    return node.call('add', [y, cast(node, own, dtype)]);
  };
  const repeated = node.call('broadcast_to', [node.reshape(rows, [tokens, 1, width])], {
    shape: [tokens, k, width],
  });
  const y = layers(node, repeated, { experts, product });
  const weighted = node.call('mul', [y, cast(node, node.reshape(shares, [tokens, k, 1]), dtype)]);
  return node.call('reduce_sum', [weighted], { axes: [1], keepdims: false });
}

/** Multiplies all tokens by the matrices of all experts: (tokens, width). */
function mixAll(
  node: ImportNode,
  { rows, experts, shares, indices, count }: Mixture & { readonly count: number },
): Expr {
  const {
    dtype,
    shape: [tokens = 1, width = 1],
  } = node.type(rows);
  const product = (x: Expr, { ofAll, bias }: Layer): Expr => {
    if (ofAll === undefined) throw internalError('codes are multiplied by all tokens');
    const y = ofAll(x);
    if (bias === undefined) return y;
    const [, outputs = 1] = node.shape(bias);
    return node.call('add', [y, cast(node, node.reshape(bias, [count, 1, outputs]), dtype)]);
  };
  const y = layers(node, node.reshape(rows, [1, tokens, width]), { experts, product });
  const none = node.call('broadcast_to', [number(node, shares, 0)], { shape: [tokens, count] });
  const all = node.call('scatter_elements', [none, indices, shares], { axis: 1 });
  const byExpert = node.call('transpose', [all], { perm: [1, 0] });
  const column = cast(node, node.reshape(byExpert, [count, tokens, 1]), dtype);
  const weighted = node.call('mul', [y, column]);
  return node.call('reduce_sum', [weighted], { axes: [0], keepdims: false });
}

interface Products {
  readonly experts: Experts;
  readonly product: (x: Expr, layer: Layer) => Expr;
}

function layers(node: ImportNode, x: Expr, { experts, product }: Products): Expr {
  const { first, second, third } = experts;
  const inner = product(x, first);
  const linear = third && product(x, third);
  return product(activated(node, inner, linear), second);
}

/** The activation of the first product, times the second, if there is one. */
function activated(node: ImportNode, gate: Expr, linear: Expr | undefined): Expr {
  const type = node.attributes.string('activation_type', 'relu');
  const fusion = node.attributes.int('swiglu_fusion', 0);
  node.attributes.ignore('swiglu_limit', 'activation_alpha', 'activation_beta');
  if (type === 'swiglu') {
    if (fusion !== 0) return swiglu(node, ...halves(node, gate, fusion === 1));
    if (linear === undefined)
      throw node.malformed('swiglu without a third layer', 'one, or a fusion');
    return swiglu(node, gate, linear);
  }
  const result = activation(node, gate, type);
  return linear === undefined ? result : node.call('mul', [result, linear]);
}

function activation(node: ImportNode, x: Expr, type: string): Expr {
  switch (type) {
    case 'identity':
      return x;
    case 'relu':
      return node.call('relu', [x]);
    case 'gelu':
      return node.call('gelu', [x], { approximate: 'tanh' });
    case 'silu':
      return node.call('mul', [x, node.call('sigmoid', [x])]);
    default:
      throw node.malformed(`activation_type ${type}`, 'relu, gelu, silu, swiglu or identity');
  }
}

/** The gate and the linear half of a product's columns, which alternate or follow each other. */
function halves(node: ImportNode, x: Expr, isInterleaved: boolean): readonly [Expr, Expr] {
  const shape = node.shape(x);
  const lead = shape.slice(0, -1);
  const half = node.dims.floordiv(shape.at(-1) ?? 2, 2);
  const pairs = isInterleaved ? [...lead, half, 2] : [...lead, 2, half];
  const axis = isInterleaved ? lead.length + 1 : lead.length;
  const parts = cutAlong(node, node.reshape(x, pairs), { axis, sizes: [1, 1] });
  const [gate, linear] = parts.map((part) => node.reshape(part, [...lead, half]));
  if (gate === undefined || linear === undefined) throw new Error('internal: no halves');
  return [gate, linear];
}

/** min(g, limit) sigmoid(alpha min(g, limit)) (clamp(l, limit) + beta). */
function swiglu(node: ImportNode, gate: Expr, linear: Expr): Expr {
  const { attributes } = node;
  const limit = attributes.float('swiglu_limit');
  const clipped = (x: Expr, min: number): Expr =>
    limit === undefined ? x : node.call('clip', [x], { min, max: limit });
  const g = clipped(gate, -Infinity);
  const l = clipped(linear, -(limit ?? 0));
  const alpha = number(node, g, attributes.float('activation_alpha', 1));
  const beta = number(node, l, attributes.float('activation_beta', 0));
  const open = node.call('sigmoid', [node.call('mul', [g, alpha])]);
  return node.call('mul', [node.call('mul', [g, open]), node.call('add', [l, beta])]);
}

const MADE =
  'reshape softmax top_k gather_elements reduce_sum div gather transpose add mul broadcast_to scatter_elements relu gelu sigmoid slice clip cast';

export const EXPERT_IMPORTERS: OperatorImporters = {
  MoE: since(1, `matmul ${MADE}`, importMoE),
  QMoE: since(
    1,
    'gather_matmul_nbits shift_right bitwise_and pad reshape softmax top_k gather_elements reduce_sum div gather add mul broadcast_to relu gelu sigmoid slice clip cast',
    importQMoE,
  ),
};
