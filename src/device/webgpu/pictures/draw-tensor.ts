import source from '../../../../shaders/pictures/draw-tensor.wgsl?raw';
import type { DrawnElements } from '../../../core/tensor/drawn-elements.ts';
import { dtypeInfo } from '../../../core/tensor/dtype.ts';
import { ShapeError, UnsupportedError } from '../../../core/errors.ts';
import type { DeviceTensor } from '../../device.ts';
import { BUFFER_USAGE } from '../memory/buffer-usage.ts';
import { asWebGpuBuffer } from '../memory/buffers.ts';
import type { CommandQueue } from '../command-queue.ts';
import type { DeviceFaults } from '../faults/device-faults.ts';

/** The parts of a device that drawing uses. */
export interface DrawContext {
  readonly device: GPUDevice;
  readonly queue: CommandQueue;
  readonly faults: DeviceFaults;
}

/** The canvas format that browsers show without a copy. */
const FORMAT: GPUTextureFormat =
  globalThis.navigator?.gpu?.getPreferredCanvasFormat?.() ?? 'rgba8unorm';
const UNIFORM_BYTE_LENGTH = 64;

interface Drawer {
  readonly pipeline: Promise<GPURenderPipeline>;
  readonly canvas: OffscreenCanvas;
}

const drawers = new WeakMap<GPUDevice, Drawer>();

/**
 * Draws a tensor behind all work launched so far, without waiting for that or reading anything. Rejects with UnsupportedError where
 * there are no canvases, with ShapeError for a picture that is larger than a texture.
 */
export async function drawTensor(
  tensor: DeviceTensor,
  elements: DrawnElements,
  { device, queue, faults }: DrawContext,
): Promise<ImageBitmap> {
  const { width, height } = elements;
  const { canvas, pipeline } = drawerOf(device);
  const ready = await pipeline;
  const most = device.limits.maxTextureDimension2D;
  if (width > most || height > most) {
    throw new ShapeError({
      where: 'the picture that is drawn',
      got: `${width} x ${height} pixels`,
      expected: `at most ${most} in each direction`,
    });
  }
  faults.throwIfEnded();
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext('webgpu');
  if (context === null) throw noCanvas('a canvas without a context for WebGPU');
  context.configure({ device, format: FORMAT, alphaMode: 'premultiplied' });
  const picture = { tensor, elements, pipeline: ready };
  const free = recordDraw(context.getCurrentTexture().createView(), picture, {
    device,
    queue,
    faults,
  });
  queue.flush();
  // In the task that drew it: the texture of a canvas lives no longer.
  const bitmap = canvas.transferToImageBitmap();
  free();
  try {
    await faults.settle(faults.serial, [asWebGpuBuffer(tensor.buffer).lastWrite]);
  } catch (error) {
    bitmap.close();
    throw error;
  }
  return bitmap;
}

function drawerOf(device: GPUDevice): Drawer {
  const known = drawers.get(device);
  if (known !== undefined) return known;
  if (typeof OffscreenCanvas === 'undefined') throw noCanvas('no OffscreenCanvas');
  const drawer = { pipeline: drawPipeline(device), canvas: new OffscreenCanvas(1, 1) };
  drawers.set(device, drawer);
  return drawer;
}

function noCanvas(got: string): UnsupportedError {
  return new UnsupportedError({
    where: 'drawing a tensor',
    got,
    expected: 'a browser that draws with WebGPU where the session runs',
    remedy: 'Read the tensor, and draw its elements.',
  });
}

/** The pipeline that draws into textures of the format of canvases. */
function drawPipeline(device: GPUDevice): Promise<GPURenderPipeline> {
  const module = device.createShaderModule({ label: 'draw-tensor', code: source });
  return device.createRenderPipelineAsync({
    label: 'draw-tensor',
    layout: 'auto',
    vertex: { module, entryPoint: 'cover' },
    fragment: { module, entryPoint: 'paint', targets: [{ format: FORMAT }] },
  });
}

interface DrawnPicture {
  readonly tensor: DeviceTensor;
  readonly elements: DrawnElements;
  readonly pipeline: GPURenderPipeline;
}

/** Records a pass that draws into `view`. Call what it returns once that was submitted. */
function recordDraw(
  view: GPUTextureView,
  { tensor, elements, pipeline }: DrawnPicture,
  { device, queue, faults }: DrawContext,
): () => void {
  const buffer = asWebGpuBuffer(tensor.buffer);
  const uniform = device.createBuffer({
    label: 'draw-tensor',
    size: UNIFORM_BYTE_LENGTH,
    usage: BUFFER_USAGE.uniform,
    mappedAtCreation: true,
  });
  writePicture(uniform.getMappedRange(), tensor, elements);
  uniform.unmap();
  const group = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: [
      { binding: 0, resource: { buffer: uniform } },
      { binding: 1, resource: { buffer: buffer.gpuBuffer, offset: tensor.byteOffset } },
    ],
  });
  queue.record((encoder) => {
    const pass = encoder.beginRenderPass({
      label: 'draw-tensor',
      colorAttachments: [{ view, loadOp: 'clear', storeOp: 'store' }],
    });
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.draw(3);
    pass.end();
  });
  buffer.lastUse = faults.serial;
  return () => uniform.destroy();
}

function writePicture(
  target: ArrayBuffer,
  { dtype }: DeviceTensor,
  { begins, width, factors, pixelStep, shifts, hasSigmoid, isOpacity }: DrawnElements,
): void {
  const integers = new Uint32Array(target);
  const floats = new Float32Array(target);
  integers.set([...begins, width]);
  floats.set(factors, 4);
  integers[7] = pixelStep;
  floats.set(shifts, 8);
  integers.set([dtypeInfo(dtype).byteLength, Number(hasSigmoid), Number(isOpacity)], 11);
}
