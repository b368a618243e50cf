import type { Expr } from '../../../compiler/ir/expr.ts';
import { becomes, type LiteImporters } from '../lite-importer.ts';
import type { LiteNode } from '../lite-node.ts';

/** The activation that an operator has fused, by its code. */
export function activate(node: LiteNode, x: Expr, code: number): Expr {
  switch (code) {
    case 0:
      return x;
    case 1:
      return node.call('relu', [x]);
    case 2:
      return node.call('clip', [x], { min: -1, max: 1 });
    case 3:
      return node.call('clip', [x], { min: 0, max: 6 });
    case 4:
      return node.call('tanh', [x]);
    default:
      throw node.unsupported(
        `fused activation ${code === 5 ? 'SIGN_BIT' : code}`,
        'RELU, RELU_N1_TO_1, RELU6 or TANH',
      );
  }
}

const clipped = (min: number, max: number) => (node: LiteNode) =>
  node.call('clip', [node.input(0)], { min, max });

function softmax(node: LiteNode): Expr {
  const { beta } = node.options('softmax');
  const x = node.input(0);
  const scaled = beta === 1 ? x : node.call('mul', [x, node.like(x, beta)]);
  return node.call('softmax', [scaled], { axis: -1 });
}

function l2Normalization(node: LiteNode): Expr {
  const x = node.input(0);
  const squares = node.call('mul', [x, x]);
  const sum = node.call('reduce_sum', [squares], {
    axes: [node.shape(x).length - 1],
    keepdims: true,
  });
  const norm = node.call('sqrt', [node.call('maximum', [sum, node.like(x, 1e-6)])]);
  return node.call('div', [x, norm]);
}

/** x / (bias + alpha * the sum of squares of the channels within a radius) ^ beta. */
function responseNormalization(node: LiteNode): Expr {
  const { radius, bias, alpha, beta } = node.options('responseNormalization');
  const x = node.input(0);
  const size = 2 * radius + 1;
  const attributes = { size, bias: { float: bias }, beta: { float: beta } };
  // ONNX divides alpha by the number of channels that it looks at.
  const normalized = node.one('LRN', [node.channelsSecond(x)], {
    ...attributes,
    alpha: { float: alpha * size },
  });
  return node.channelsLast(normalized);
}

const onnx = (op: string) => (node: LiteNode) => node.one(op, [node.input(0)]);

export const ACTIVATION_IMPORTERS: LiteImporters = {
  ELU: becomes('relu minimum exp sub mul add', onnx('Elu')),
  GELU: becomes('gelu', (node) =>
    node.call('gelu', [node.input(0)], {
      approximate: node.options('gelu').approximate ? 'tanh' : 'none',
    }),
  ),
  HARD_SWISH: becomes('mul add clip', onnx('HardSwish')),
  L2_NORMALIZATION: becomes('div reduce_sum mul sqrt maximum', l2Normalization),
  LEAKY_RELU: becomes('leaky_relu', (node) =>
    node.call('leaky_relu', [node.input(0)], { alpha: node.options('leakyRelu').alpha }),
  ),
  LOCAL_RESPONSE_NORMALIZATION: becomes('sum_pool mul add pow div', responseNormalization),
  LOGISTIC: becomes('sigmoid', (node) => node.call('sigmoid', [node.input(0)])),
  LOG_SOFTMAX: becomes('log_softmax', (node) => node.call('log_softmax', [node.input(0)])),
  PRELU: becomes('where less mul', (node) => node.one('PRelu', [node.input(0), node.input(1)])),
  RELU: becomes('relu', (node) => node.call('relu', [node.input(0)])),
  RELU6: becomes('clip', clipped(0, 6)),
  RELU_0_TO_1: becomes('clip', clipped(0, 1)),
  RELU_N1_TO_1: becomes('clip', clipped(-1, 1)),
  SOFTMAX: becomes('softmax mul', softmax),
  TANH: becomes('tanh', (node) => node.call('tanh', [node.input(0)])),
};
