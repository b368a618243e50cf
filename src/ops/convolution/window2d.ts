import type { Attributes } from '../../core/primitive-function.ts';
import type { LoweringCall } from '../lowering.ts';

/** The geometry of a sliding window over NCHW images: that of convolutions and poolings. */
export interface Window2d {
  readonly batch: number;
  readonly channels: number;
  readonly inH: number;
  readonly inW: number;
  readonly outChannels: number;
  readonly outH: number;
  readonly outW: number;
  readonly kernelH: number;
  readonly kernelW: number;
  readonly strideH: number;
  readonly strideW: number;
  readonly dilationH: number;
  readonly dilationW: number;
  readonly padTop: number;
  readonly padLeft: number;
  readonly padBottom: number;
  readonly padRight: number;
}

/** Reads the geometry from a call whose first input and output are NCHW. */
export function window2d(call: LoweringCall, kernel: readonly [number, number]): Window2d {
  const [batch = 1, channels = 1, inH = 1, inW = 1] = call.inputs[0]?.shape ?? [];
  const [, outChannels = 1, outH = 1, outW = 1] = call.output.shape;
  const [strideH = 1, strideW = 1] = ints(call.attributes, 'strides');
  const [dilationH = 1, dilationW = 1] = ints(call.attributes, 'dilations');
  const [padTop = 0, padLeft = 0, padBottom = 0, padRight = 0] = ints(call.attributes, 'pads');
  return {
    batch,
    channels,
    inH,
    inW,
    outChannels,
    outH,
    outW,
    kernelH: kernel[0],
    kernelW: kernel[1],
    strideH,
    strideW,
    dilationH,
    dilationW,
    padTop,
    padLeft,
    padBottom,
    padRight,
  };
}

/** An attribute that is a list of integers; empty when absent. */
export function ints(attributes: Attributes, name: string): readonly number[] {
  const value = attributes[name];
  return Array.isArray(value) ? value.map(Number) : [];
}
