import gridSampleShader from '../../../shaders/grid-sample.wgsl?raw';
import resampleShader from '../../../shaders/resample.wgsl?raw';
import roiAlignShader from '../../../shaders/roi-align.wgsl?raw';
import { elementCount } from '../../core/tensor/shape.ts';
import { boolAttribute, floatAttribute, intAttribute } from '../attributes.ts';
import { elementKernel } from '../lowering/element-kernel.ts';
import { f32, type KernelSpec, type Lowering, type LoweringCall } from '../lowering/lowering.ts';
import { MODES, PADDINGS, samplingOf } from './grid-sample.ts';
import { layoutOf } from './resample.ts';

/** The kernel of `resample`. */
export const lowerResample: Lowering = ({ inputs, output, attributes, caps }) => {
  const [outSize = 1, width = 1] = inputs[1]?.shape ?? [];
  const { size, inner } = layoutOf(inputs[0]?.shape ?? [], attributes);
  const count = elementCount(output.shape);
  return elementKernel(count, caps, {
    name: 'resample',
    source: resampleShader,
    params: {
      size: size,
      inner: inner,
      out_size: outSize,
      width: width,
    },
    hooks: ['x', 'table'],
  });
};

/** The kernel of `grid_sample`. */
export const lowerGridSample: Lowering = ({ inputs, output, attributes, caps }) => {
  const [, channels = 1, ...sizes] = inputs[0]?.shape ?? [];
  const [width = 1, height = 1, depth = 1] = sizes.toReversed();
  const { mode, padding, isAligned } = samplingOf(attributes);
  const count = elementCount(output.shape);
  return elementKernel(count, caps, {
    name: 'grid-sample',
    source: gridSampleShader,
    constants: {
      RANK: sizes.length,
      MODE: MODES.indexOf(mode),
      PADDING: PADDINGS.indexOf(padding),
      ALIGN_CORNERS: isAligned,
    },
    params: {
      channels: channels,
      points: elementCount(output.shape.slice(2)),
      in_d: depth,
      in_h: height,
      in_w: width,
    },
    hooks: ['x', 'grid'],
  });
};

/** The kernel of `roi_align`. */
export function lowerRoiAlign({
  inputs,
  output,
  attributes,
  caps,
}: LoweringCall): readonly KernelSpec[] {
  const [batch = 1, channels = 1, height = 1, width = 1] = inputs[0]?.shape ?? [];
  const [, , rows = 1, columns = 1] = output.shape;
  const count = elementCount(output.shape);
  const isHalfPixel = boolAttribute(attributes, 'half_pixel');
  return elementKernel(count, caps, {
    name: 'roi-align',
    source: roiAlignShader,
    constants: { IS_MAX: boolAttribute(attributes, 'max') },
    params: {
      batch: batch,
      channels: channels,
      in_h: height,
      in_w: width,
      out_h: rows,
      out_w: columns,
      sampling: intAttribute(attributes, 'sampling'),
      scale: f32(floatAttribute(attributes, 'scale')),
      offset: f32(isHalfPixel ? 0.5 : 0),
      smallest: f32(isHalfPixel ? -Infinity : 1),
      lowest: f32(-Infinity),
    },
    hooks: ['x', 'rois', 'images'],
  });
}
