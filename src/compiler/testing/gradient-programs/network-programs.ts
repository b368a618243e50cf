import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { type GradientProgram, randomTensor, textProgram } from './gradient-program.ts';

const S = 'Tensor[(), float64]';

/** Networks with their losses, small ones. */
export const NETWORK_PROGRAMS: readonly GradientProgram[] = [
  textProgram(
    'attention with shared keys and a causal mask',
    `def @f(%x: Tensor[(1, 3, 4), float64], %wq: Tensor[(4, 4), float64], %wk: Tensor[(4, 2), float64]) -> ${S} {
      %q = transpose(reshape(matmul(%x, %wq), shape=[1, 3, 2, 2]), perm=[0, 2, 1, 3]);
      %k = transpose(reshape(matmul(%x, %wk), shape=[1, 3, 1, 2]), perm=[0, 2, 1, 3]);
      %y = scaled_dot_product_attention(%q, %k, sin(%k), scale=0.7, causal=[0]);
      reduce_mean(mul(%y, %y))
    }`,
    [randomTensor(1, 1, 3, 4), randomTensor(2, 4, 4), randomTensor(3, 4, 2)],
  ),
  textProgram(
    'attention in single operators, sizes being symbols',
    `def @f(%x: Tensor[(b, t, 3), float64], %w: Tensor[(3, 3), float64]) -> ${S} {
      %q = matmul(%x, %w);
      %scores = mul(matmul(%q, transpose(%x, perm=[0, 2, 1])), 0.5f64);
      %y = matmul(softmax(%scores), %x);
      reduce_mean(exp(mul(%y, %q)))
    }`,
    [randomTensor(4, 2, 3, 3), randomTensor(5, 3, 3)],
  ),
  textProgram(
    'a convolution network with a cross entropy',
    `def @f(%x: Tensor[(2, 1, 6, 6), float64], %k: Tensor[(2, 1, 3, 3), float64], %b: Tensor[(2,), float64],
        %w: Tensor[(8, 3), float64], %at: Tensor[(2, 1), int64]) -> ${S} {
      %h = tanh(conv2d(%x, %k, %b, pads=[1, 0, 1, 0]));
      %p = max_pool(%h, kernel=[3, 2], strides=[3, 2]);
      %y = log_softmax(matmul(reshape(%p, shape=[2, 8]), %w));
      neg(reduce_mean(gather_elements(%y, %at, axis=1)))
    }`,
    [
      randomTensor(6, 2, 1, 6, 6),
      randomTensor(7, 2, 1, 3, 3),
      [0.1, -0.2],
      randomTensor(8, 8, 3),
      HostTensor.from('int64', [2, 1], [2n, 0n]),
    ],
  ),
  textProgram(
    'batch norm in training mode, which reads its own statistics',
    `def @f(%x: Tensor[(n, 2, 3), float64], %scale: Tensor[(2,), float64], %bias: Tensor[(2,), float64]) -> ${S} {
      %mean = reduce_mean(%x, axes=[0, 2], keepdims=true);
      %away = sub(%x, %mean);
      %variance = reduce_mean(mul(%away, %away), axes=[0, 2]);
      %y = batch_norm(%x, %scale, %bias, reshape(%mean, shape=[2]), %variance);
      reduce_mean(mul(sigmoid(%y), sin(%x)))
    }`,
    [randomTensor(9, 3, 2, 3), [1.2, 0.7], [0.1, -0.3]],
  ),
  textProgram(
    'an LSTM written out, as recursion over its steps',
    `def @cell(%x: Tensor[(2,), float64], %h: Tensor[(2,), float64], %c: Tensor[(2,), float64],
        %w: Tensor[(4, 8), float64]) {
      %g = matmul(concat(%x, %h, axis=0), %w);
      %i = sigmoid(slice(%g, starts=[0], ends=[2]));
      %o = sigmoid(slice(%g, starts=[2], ends=[4]));
      %k = sigmoid(slice(%g, starts=[4], ends=[6]));
      %next = add(mul(%k, %c), mul(%i, tanh(slice(%g, starts=[6], ends=[8]))));
      (mul(%o, tanh(%next)), %next)
    }
    def @run(%xs: Tensor[(t, 2), float64], %at: int, %h: Tensor[(2,), float64], %c: Tensor[(2,), float64],
        %w: Tensor[(4, 8), float64]) -> Tensor[(2,), float64] {
      if (int_lt(%at, dim(%xs, axis=0))) {
        let %x = gather(%xs, reshape(tensor_of(%at, dtype="int64"), shape=[]), axis=0);
        let %state = @cell(%x, %h, %c, %w);
        @run(%xs, int_add(%at, #1), %state.0, %state.1, %w)
      } else { %h }
    }
    def @f(%xs: Tensor[(t, 2), float64], %w: Tensor[(4, 8), float64]) -> ${S} {
      reduce_sum(@run(%xs, #0, [0f64, 0f64], [0f64, 0f64], %w))
    }`,
    [randomTensor(10, 3, 2), randomTensor(11, 4, 8)],
  ),
  textProgram(
    'the operator of recurrent cells, both ways',
    `def @f(%x: Tensor[(3, 1, 8), float64], %r: Tensor[(2, 1, 4), float64], %h: Tensor[(4, 1, 1), float64]) -> ${S} {
      %y = recurrent(%x, %r, %h, cell="lstm", direction="bidirectional", activations=["Sigmoid", "Tanh", "Tanh", "Sigmoid", "Tanh", "Tanh"], alphas=[0, 0, 0, 0, 0, 0], betas=[0, 0, 0, 0, 0, 0]);
      reduce_sum(mul(%y, %y))
    }`,
    [randomTensor(12, 3, 1, 8), randomTensor(13, 2, 1, 4), randomTensor(14, 4, 1, 1)],
  ),
  textProgram(
    'recurrent cells, both ways, over an open number of steps',
    `def @f(%x: Tensor[(t, 1, 2), float64], %r: Tensor[(2, 1, 1), float64], %h: Tensor[(2, 1, 1), float64]) -> ${S} {
      %y = recurrent(%x, %r, %h, cell="rnn", direction="bidirectional", activations=["Tanh", "Sigmoid"], alphas=[0, 0], betas=[0, 0]);
      reduce_sum(mul(%y, %y))
    }`,
    [randomTensor(12, 3, 1, 2), randomTensor(13, 2, 1, 1), randomTensor(14, 2, 1, 1)],
  ),
  textProgram(
    'recurrent cells from the end, over sequences of other lengths in an open number of steps',
    `def @f(%x: Tensor[(t, b, 4), float64], %r: Tensor[(1, 1, 4), float64], %h: Tensor[(2, b, 1), float64],
        %v: Tensor[(1, 3), float64], %l: Tensor[(b,), int32]) -> ${S} {
      %y = recurrent(%x, %r, %h, %v, %l, cell="lstm", direction="reverse", activations=["Sigmoid", "Tanh", "Tanh"], alphas=[0, 0, 0], betas=[0, 0, 0]);
      reduce_sum(mul(%y, sin(%y)))
    }`,
    [
      randomTensor(1, 3, 2, 4),
      randomTensor(2, 1, 1, 4),
      randomTensor(3, 2, 2, 1),
      [[0.4, -0.3, 0.7]],
      HostTensor.from('int32', [2], [3, 2]),
    ],
  ),
  textProgram(
    'linear attention over an open number of positions',
    `def @f(%q: Tensor[(1, n, 4), float64], %k: Tensor[(1, n, 2), float64], %v: Tensor[(1, n, 3), float64],
        %s: Tensor[(1, 1, 2, 3), float64], %g: Tensor[(1, n, 2), float64], %e: Tensor[(1, n, 2), float64]) -> ${S} {
      %y = linear_attention(%q, %k, %v, %s, %g, %e, heads=2, kv_heads=1);
      reduce_sum(mul(%y, sin(%y)))
    }`,
    [
      randomTensor(1, 1, 3, 4),
      randomTensor(2, 1, 3, 2),
      randomTensor(3, 1, 3, 3),
      randomTensor(4, 1, 1, 2, 3),
      randomTensor(5, 1, 3, 2),
      randomTensor(6, 1, 3, 2),
    ],
  ),
  textProgram(
    'a block with a norm, a gate and a residual',
    `def @f(%x: Tensor[(t, 4), float64], %g: Tensor[(4,), float64], %up: Tensor[(4, 6), float64],
        %down: Tensor[(6, 4), float64]) -> ${S} {
      %n = mul(layer_norm(%x), %g);
      %h = matmul(%n, %up);
      %y = add(%x, matmul(mul(%h, sigmoid(%h)), %down));
      reduce_mean(mul(%y, %y))
    }`,
    [randomTensor(15, 2, 4), [1, 0.5, -0.8, 1.2], randomTensor(16, 4, 6), randomTensor(17, 6, 4)],
  ),
  textProgram(
    'two layers in half precision',
    `def @f(%x: Tensor[(n, 3), float64], %w: Tensor[(3, 4), float64], %v: Tensor[(4, 1), float64]) -> ${S} {
      %y = matmul(tanh(matmul(%x, %w)), %v);
      reduce_mean(mul(%y, %y))
    }`,
    [randomTensor(18, 2, 3), randomTensor(19, 3, 4), randomTensor(20, 4, 1)],
    { single: 'float16' },
  ),
];
