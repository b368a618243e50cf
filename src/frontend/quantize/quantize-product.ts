import { MICROSOFT } from '../onnx/model/operator-sets.ts';
import type { NodeProto } from '../onnx/protobuf/schema.ts';
import { floatTensor, floatWeights } from './float-weights.ts';
import type { GraphScope } from './graph-scope.ts';
import { intAttribute, type WrittenNode } from './model-edits.ts';
import { nodeName } from './quantized-layer.ts';
import type { CodedMatrix, WeightCoder } from './weight-coder.ts';

/** The replacement of a node, in words, and the relative error of its weights. */
export interface RoundedNode {
  readonly becomes: string;
  readonly weightError: number;
}

const floatOf = ({ attribute }: NodeProto, name: string): number =>
  attribute.find((each) => each.name === name)?.f ?? 1;

const flagOf = ({ attribute }: NodeProto, name: string): boolean =>
  (attribute.find((each) => each.name === name)?.i ?? 0n) !== 0n;

/** `MatMul` by a constant matrix as `MatMulNBits`; or why it stays as it is. */
export function quantizeMatMul(
  node: NodeProto,
  scope: GraphScope,
  coder: WeightCoder,
): RoundedNode | string {
  const [, weights = ''] = node.input;
  const found = scope.constantOf(weights);
  if (found === undefined) return NOT_CONSTANT;
  const matrix = coder.matrix(found, { node, scope, hasRows: found.isTransposed, factor: 1 });
  if (typeof matrix === 'string') return matrix;
  coder.edits.replace(node, [productOf(node, { coder, matrix, output: node.output })]);
  coder.edits.release(weights);
  return roundedTo(coder, matrix);
}

/** `Gemm` by a constant matrix as `MatMulNBits` and, with a bias, `Add`; or why it stays as it is. */
export function quantizeGemm(
  node: NodeProto,
  scope: GraphScope,
  coder: WeightCoder,
): RoundedNode | string {
  const [, weights = '', bias = ''] = node.input;
  const found = scope.constantOf(weights);
  if (found === undefined) return NOT_CONSTANT;
  if (flagOf(node, 'transA')) return 'its first operand is transposed';
  const beta = floatOf(node, 'beta');
  const scaledBias = bias === '' || beta === 0 ? '' : biasTimes(beta, { node, bias, scope, coder });
  if (scaledBias === undefined) return 'its bias is computed and has a factor';
  const hasRows = found.isTransposed !== flagOf(node, 'transB');
  const matrix = coder.matrix(found, { node, scope, hasRows, factor: floatOf(node, 'alpha') });
  if (typeof matrix === 'string') return matrix;
  const { edits } = coder;
  const [output = ''] = node.output;
  const product = scaledBias === '' ? output : edits.uniqueName(`${output}_product`);
  const written: WrittenNode[] = [productOf(node, { coder, matrix, output: [product] })];
  if (scaledBias !== '') {
    const name = edits.uniqueName(`${nodeName(node)}_bias`);
    const add = { name, opType: 'Add', input: [product, scaledBias], output: [output] };
    written.push({ draft: add });
  }
  edits.replace(node, written);
  edits.release(weights);
  if (scaledBias !== bias) edits.release(bias);
  return roundedTo(coder, matrix);
}

const NOT_CONSTANT = 'both of its operands are computed';

interface BiasPlace {
  readonly node: NodeProto;
  readonly bias: string;
  readonly scope: GraphScope;
  readonly coder: WeightCoder;
}

/** The name of a bias times a factor; undefined where it is no constant. */
function biasTimes(beta: number, { node, bias, scope, coder }: BiasPlace): string | undefined {
  if (beta === 1) return bias;
  const found = scope.constantOf(bias);
  if (found === undefined || found.isTransposed) return undefined;
  const weights = floatWeights(found, coder.options.externalData);
  if (typeof weights === 'string') return undefined;
  const { dtype, shape, values } = weights;
  const name = coder.edits.uniqueName(`${nodeName(node)}_scaled_bias`);
  const scaled = values.map((value) => value * beta);
  coder.edits.addInitializer(found.scope, name, floatTensor(dtype, shape, scaled));
  return name;
}

interface ProductPlace {
  readonly coder: WeightCoder;
  readonly matrix: CodedMatrix;
  readonly output: readonly string[];
}

/** The node with another operator and its weights as codes; what it says beside stays. */
function productOf(base: NodeProto, { coder, matrix, output }: ProductPlace): WrittenNode {
  const { bits, block } = coder.options;
  const attribute = [
    intAttribute('K', matrix.depth),
    intAttribute('N', matrix.columns),
    intAttribute('bits', bits),
    intAttribute('block_size', block),
  ];
  const input = [base.input[0] ?? '', ...matrix.inputs];
  const draft = { opType: 'MatMulNBits', domain: MICROSOFT, input, output, attribute };
  return { base, draft };
}

function roundedTo({ options }: WeightCoder, { weightError }: CodedMatrix): RoundedNode {
  const { bits, block } = options;
  return { becomes: `MatMulNBits, ${bits} bits in blocks of ${block}`, weightError };
}
