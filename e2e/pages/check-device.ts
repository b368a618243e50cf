import type { LaunchPlan } from '../../src/core/contracts/launch-plan.ts';
import {
  floatBuffer,
  floatTensor,
  incrementPlan,
  openTestDevice,
  readFloats,
  vectorLaunch,
  vectorPrimitive,
} from '../../src/device/webgpu/testing/test-device.ts';

/** Results of the WebGPU device in a browser; errors as `name: message`. */
export interface DeviceFindings {
  readonly result: readonly number[];
  readonly launchesProfiled: number;
  readonly repeatedRunCreated: number;
  readonly brokenShader: string;
  readonly refusedLaunch: string;
  readonly readAfterRefusal: string;
  readonly otherBuffer: readonly number[];
  readonly uncaughtError: string;
  readonly readWhenLost: string;
  readonly launchAfterLoss: string;
}

function tooSmallPlan(elementCount: number): LaunchPlan {
  const launch = vectorLaunch({ label: 'too_small', body: 'y[i] = a[i];', elementCount });
  const code = launch.code.replace('y: array<f32>', 'y: array<f32, 4096>');
  return { launches: [{ ...launch, code }], scratchByteLengths: [] };
}

function brokenPlan(elementCount: number): LaunchPlan {
  const launch = vectorLaunch({ label: 'broken', body: 'y[i] = missing(a[i]);', elementCount });
  return { launches: [launch], scratchByteLengths: [] };
}

async function errorOf(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
  return 'no error';
}

/** Takes the device through work, faults and loss, in whatever thread this runs. */
export async function checkDevice(): Promise<DeviceFindings> {
  const { device, gpuDevice } = await openTestDevice(navigator.gpu, {
    increment: incrementPlan,
    too_small: tooSmallPlan,
    broken: brokenPlan,
  });
  const kernels = await device.prepare([
    vectorPrimitive('increment'),
    vectorPrimitive('too_small'),
  ]);
  const input = floatBuffer(device, [1, 2, 3]);
  const output = device.createBuffer(12);
  const args = [floatTensor(input, [3]), floatTensor(output, [3])];

  const stop = await device.startProfile();
  kernels.get('increment')?.launch(args);
  const launchesProfiled = (await stop()).length;
  const before = device.counters();
  kernels.get('increment')?.launch(args);
  const result = await readFloats(device, output);
  const after = device.counters();

  const brokenShader = await errorOf(() => device.prepare([vectorPrimitive('broken')]));
  kernels.get('too_small')?.launch(args);
  const refusedLaunch = await errorOf(() => readFloats(device, output));
  const readAfterRefusal = await errorOf(() => readFloats(device, output));
  const otherBuffer = await readFloats(device, input);

  gpuDevice.createBuffer({ size: 4, usage: 0 });
  await gpuDevice.queue.onSubmittedWorkDone();
  const uncaughtError = await errorOf(() => device.synchronize());

  const pending = errorOf(() => readFloats(device, input));
  gpuDevice.destroy();
  return {
    result,
    launchesProfiled,
    repeatedRunCreated:
      after.pipelinesCreated -
      before.pipelinesCreated +
      after.buffersCreated -
      before.buffersCreated,
    brokenShader,
    refusedLaunch,
    readAfterRefusal,
    otherBuffer,
    uncaughtError,
    readWhenLost: await pending,
    launchAfterLoss: await errorOf(() => kernels.get('increment')?.launch(args)),
  };
}
