import { type Draw, ints, reals, integersBetween } from '../draw.ts';
import { HostTensor } from '../../../../src/core/tensor/host-tensor.ts';
import type { CaseGenerator, CaseTable, NodeCase } from '../node-case.ts';

/** Kernel, strides, pads and dilations of a window over `spatial` that it fits. */
function windowOf(draw: Draw, rank: number) {
  const kernel = Array.from({ length: rank }, () => draw.int(1, 3));
  const dilations = draw.maybe(() => kernel.map(() => draw.int(1, 2)), 0.4);
  const strides = draw.maybe(() => kernel.map(() => draw.int(1, 3)), 0.6);
  const spatial = kernel.map((size, i) => (size - 1) * (dilations?.[i] ?? 1) + 1 + draw.int(0, 5));
  return { kernel, dilations, strides, spatial };
}

function padding(
  draw: Draw,
  kernel: readonly number[],
): Readonly<Record<string, string | number[]>> {
  const how = draw.pick(['none', 'pads', 'pads', 'SAME_UPPER', 'SAME_LOWER', 'VALID']);
  if (how === 'none') return {};
  if (how !== 'pads') return { auto_pad: how };
  return { pads: [...kernel, ...kernel].map((size) => draw.int(0, size - 1)) };
}

function conv(draw: Draw): NodeCase {
  const rank = draw.pick([1, 2, 2, 2, 3]);
  const { kernel, dilations, strides, spatial } = windowOf(draw, rank);
  const group = draw.pick([1, 1, 2, 3]);
  const inner = draw.int(1, 4);
  const outer = group * draw.int(1, 4);
  const given = padding(draw, kernel);
  const dtype = draw.pick(['float32', 'float32', 'float32', 'float16'] as const);
  return {
    op: 'Conv',
    opset: draw.pick([1, 11, 22]),
    inputs: [
      draw.tensor(dtype, [draw.int(1, 3), inner * group, ...spatial]),
      draw.tensor(dtype, [outer, inner, ...kernel]),
      draw.maybe(() => draw.tensor(dtype, [outer])),
    ],
    parameters: [1, 2],
    attributes: {
      ...given,
      dilations: 'auto_pad' in given ? undefined : dilations,
      strides,
      group: group === 1 ? undefined : group,
      kernel_shape: draw.maybe(() => kernel),
    },
    atol: dtype === 'float16' ? 0.1 : 1e-4,
  };
}

function convTranspose(draw: Draw): NodeCase {
  const rank = draw.pick([1, 2, 2, 3]);
  const { kernel, dilations, strides, spatial } = windowOf(draw, rank);
  const group = draw.pick([1, 1, 2, 3]);
  const inner = group * draw.int(1, 3);
  const outer = draw.int(1, 4);
  const given = padding(
    draw,
    kernel.map((size) => Math.min(size, 2)),
  );
  const extra = strides?.map((stride) => draw.int(0, stride - 1));
  return {
    op: 'ConvTranspose',
    opset: draw.pick([1, 11, 22]),
    inputs: [
      draw.tensor('float32', [draw.int(1, 2), inner, ...spatial]),
      draw.tensor('float32', [inner, outer, ...kernel]),
      draw.maybe(() => draw.tensor('float32', [outer * group])),
    ],
    parameters: [1, 2],
    attributes: {
      ...given,
      dilations,
      strides,
      group: group === 1 ? undefined : group,
      output_padding: draw.maybe(() => extra),
      kernel_shape: draw.maybe(() => kernel),
    },
    atol: 1e-4,
  };
}

function pool(op: string, versions: readonly number[]): CaseGenerator {
  return (draw) => {
    const opset = draw.pick(versions);
    const rank = draw.pick([1, 2, 2, 2, 3]);
    const { kernel, dilations, strides, spatial } = windowOf(draw, rank);
    const given = padding(draw, kernel);
    const dilates = op === 'MaxPool' ? opset >= 10 : op === 'LpPool' ? opset >= 18 : opset >= 19;
    const ceils = op === 'LpPool' ? opset >= 18 : opset >= 10;
    const dtype =
      op === 'MaxPool' && opset >= 12
        ? draw.pick(['float32', 'float32', 'uint8', 'int8', 'float64'] as const)
        : 'float32';
    return {
      op,
      opset,
      inputs: [draw.tensor(dtype, [draw.int(1, 2), draw.int(1, 4), ...spatial])],
      attributes: {
        ...given,
        kernel_shape: kernel,
        strides,
        dilations: dilates && !('auto_pad' in given) ? dilations : undefined,
        ceil_mode: ceils ? draw.maybe(() => draw.int(0, 1)) : undefined,
        count_include_pad:
          op === 'AveragePool' && opset >= 7 ? draw.maybe(() => draw.int(0, 1)) : undefined,
        storage_order:
          op === 'MaxPool' && opset >= 8 ? draw.maybe(() => draw.int(0, 1), 0.2) : undefined,
        p: op === 'LpPool' ? draw.maybe(() => draw.int(1, 3)) : undefined,
      },
      outputs: op === 'MaxPool' && opset >= 8 ? draw.pick([1, 1, 2]) : 1,
    };
  };
}

function resize(draw: Draw): NodeCase {
  const opset = draw.pick([10, 11, 13, 18, 19]);
  const mode = draw.pick(['nearest', 'linear', ...(opset > 10 ? ['cubic'] : [])]);
  const rank = mode === 'cubic' ? 4 : draw.int(mode === 'linear' ? 3 : 2, 4);
  const shape = [draw.int(1, 2), draw.int(1, 3), draw.int(1, 6), draw.int(1, 6)].slice(4 - rank);
  const moved = (i: number) =>
    i >= rank - 2 &&
    (rank > 2 || mode === 'nearest') &&
    (rank > 3 || mode === 'nearest' || i === rank - 1);
  const scales = shape.map((_, i) => (moved(i) ? draw.pick([0.5, 0.6, 1, 1.5, 2, 2.7, 3]) : 1));
  const sizes = shape.map((dim, i) => (moved(i) ? draw.int(1, 9) : dim));
  const x = draw.tensor(
    draw.pick(['float32', 'float32', 'float32', 'uint8', 'int8'] as const),
    shape,
    draw.pick([integersBetween(0, 100)]),
  );
  if (opset === 10) {
    return {
      op: 'Resize',
      opset,
      inputs: [x, HostTensor.from('float32', [rank], scales)],
      parameters: [1],
      attributes: { mode },
    };
  }
  const bySizes = draw.often(0.4);
  const transforms = [
    'half_pixel',
    'pytorch_half_pixel',
    'align_corners',
    'asymmetric',
    ...(opset < 13 ? ['tf_half_pixel_for_nn'] : []),
    ...(opset >= 19 ? ['half_pixel_symmetric'] : []),
  ];
  const antialias =
    opset >= 18 && mode !== 'nearest' ? draw.maybe(() => draw.int(0, 1)) : undefined;
  return {
    op: 'Resize',
    opset,
    inputs: [
      x,
      opset === 11 ? HostTensor.from('float32', [0], []) : undefined,
      bySizes
        ? opset === 11
          ? HostTensor.from('float32', [0], [])
          : undefined
        : HostTensor.from('float32', [rank], scales),
      bySizes ? ints(sizes) : undefined,
    ],
    parameters: opset === 11 ? [1, 2, 3] : draw.pick([[1, 2, 3], [1]]),
    attributes: {
      mode,
      antialias,
      coordinate_transformation_mode: draw.maybe(() => draw.pick(transforms), 0.8),
      nearest_mode:
        mode === 'nearest'
          ? draw.maybe(
              () => draw.pick(['round_prefer_floor', 'round_prefer_ceil', 'floor', 'ceil']),
              0.8,
            )
          : undefined,
      cubic_coeff_a: mode === 'cubic' ? draw.maybe(() => ({ float: -0.5 })) : undefined,
      exclude_outside: mode === 'cubic' ? draw.maybe(() => draw.int(0, 1)) : undefined,
    },
    step: x.dtype === 'float32' ? 0 : 1,
    atol: 1e-3,
  };
}

function upsample(draw: Draw): NodeCase {
  const opset = draw.pick([7, 9]);
  const shape = [1, draw.int(1, 3), draw.int(1, 4), draw.int(1, 4)];
  const scales = [1, 1, draw.pick([1, 1.5, 2, 3]), draw.pick([1, 2, 2.5])];
  const mode = draw.maybe(() => draw.pick(['nearest', 'linear']));
  const x = draw.tensor('float32', shape);
  if (opset === 7)
    return { op: 'Upsample', opset, inputs: [x], attributes: { mode, scales: { floats: scales } } };
  return {
    op: 'Upsample',
    opset,
    inputs: [x, HostTensor.from('float32', [4], scales)],
    parameters: [1],
    attributes: { mode },
  };
}

function gridSample(draw: Draw): NodeCase {
  const opset = draw.pick([16, 20, 22]);
  const rank = opset >= 20 && draw.often(0.3) ? 3 : 2;
  const spatial = Array.from({ length: rank }, () => draw.int(1, 5));
  const n = draw.int(1, 2);
  const old = ['bilinear', 'nearest', 'bicubic'];
  const modes = opset === 16 ? old : ['linear', 'nearest', ...(rank === 2 ? ['cubic'] : [])];
  return {
    op: 'GridSample',
    opset,
    inputs: [
      draw.tensor('float32', [n, draw.int(1, 3), ...spatial]),
      draw.tensor('float32', [n, ...spatial.map(() => draw.int(1, 4)), rank], {
        number: (d) => d.real(-1.4, 1.4),
      }),
    ],
    attributes: {
      mode: draw.maybe(() => draw.pick(modes), 0.8),
      padding_mode: draw.maybe(() => draw.pick(['zeros', 'border', 'reflection']), 0.8),
      align_corners: draw.maybe(() => draw.int(0, 1)),
    },
    atol: 1e-3,
  };
}

function roiAlign(draw: Draw): NodeCase {
  const opset = draw.pick([10, 16, 22]);
  const [n, count] = [draw.int(1, 2), draw.int(0, 4)];
  const rois: number[] = [];
  for (let i = 0; i < count; i++) {
    const [x, y] = [draw.real(0, 6), draw.real(0, 6)];
    rois.push(x, y, x + draw.real(0.5, 6), y + draw.real(0.5, 6));
  }
  return {
    op: 'RoiAlign',
    opset,
    inputs: [
      draw.tensor('float32', [n, draw.int(1, 3), 7, 6]),
      HostTensor.from('float32', [count, 4], rois),
      draw.tensor('int64', [count], integersBetween(0, n - 1)),
    ],
    attributes: {
      // In max mode the runtime takes the largest weighted corner, not the largest sample.
      mode: draw.maybe(() => 'avg'),
      output_height: draw.maybe(() => draw.int(1, 3)),
      output_width: draw.maybe(() => draw.int(1, 3)),
      sampling_ratio: draw.maybe(() => draw.int(0, 3)),
      spatial_scale: draw.maybe(() => ({ float: 0.5 })),
      coordinate_transformation_mode:
        opset >= 16 ? draw.maybe(() => draw.pick(['half_pixel', 'output_half_pixel'])) : undefined,
    },
    atol: 1e-4,
  };
}

function lrn(draw: Draw): NodeCase {
  return {
    op: 'LRN',
    opset: draw.pick([1, 13]),
    inputs: [draw.tensor('float32', draw.shape({ from: 4, to: 4, zero: 0 }), reals)],
    attributes: {
      size: draw.pick([1, 3, 5]),
      alpha: draw.maybe(() => ({ float: 0.1 })),
      beta: draw.maybe(() => ({ float: 0.5 })),
      bias: draw.maybe(() => ({ float: 2 })),
    },
  };
}

export const SPATIAL_CASES: CaseTable = {
  AveragePool: pool('AveragePool', [7, 10, 11, 19, 22]),
  Conv: conv,
  ConvTranspose: convTranspose,
  GridSample: gridSample,
  LRN: lrn,
  LpPool: pool('LpPool', [2, 11, 18, 22]),
  MaxPool: pool('MaxPool', [1, 8, 10, 11, 12, 22]),
  Resize: resize,
  RoiAlign: roiAlign,
  Upsample: upsample,
};
