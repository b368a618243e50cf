import { HostTensor } from '../src/core/tensor/host-tensor.ts';
import { ownModel } from '../src/frontend/onnx/testing/own-model.ts';
import { throwsDice } from '../src/runtime/testing/long-programs.ts';
import { HOSTILE_MODELS } from '../src/testing/hostile-models.ts';
import { writeOnnxModel } from '../src/testing/onnx-writer.ts';
import {
  addWeights,
  callsPacked,
  countingLoop,
  sumAndProduct,
} from '../src/worker/testing/test-programs.ts';
import { expect, testOfPage } from './fixtures.ts';
import type { SessionPage } from './pages/session.ts';

declare const weft: SessionPage;

export const WEIGHT_COUNT = 1_500_000;

const sum = Buffer.from(sumAndProduct().toBytes());
const weights = Buffer.from(addWeights(WEIGHT_COUNT).toBytes());
function hostile(title: string): Buffer {
  const model = HOSTILE_MODELS.find((candidate) => candidate.title === title);
  if (model === undefined) throw new Error(`there is no hostile model "${title}"`);
  return Buffer.from(model.bytes());
}

/** What the page finds below /served/. */
export const FILES: Readonly<Record<string, Buffer>> = {
  'sum.weft': sum,
  'weights.weft': weights,
  'cut-head.weft': sum.subarray(0, 400),
  'cut-data.weft': weights.subarray(0, weights.length - 1000),
  'loop.weft': Buffer.from(countingLoop().toBytes()),
  'twice.weft': Buffer.from(callsPacked('test.twice').toBytes()),
  'half.weft': Buffer.from(callsPacked('test.half').toBytes()),
  'dice.weft': Buffer.from(throwsDice().toBytes()),
  'close.weft': Buffer.from(callsPacked('test.close').toBytes()),
  'add.onnx': Buffer.from(
    writeOnnxModel({
      nodes: [{ op: 'Add', inputs: ['a', 'c'], outputs: ['b'] }],
      inputs: [{ name: 'a', shape: [2] }],
      outputs: ['b'],
      initializers: { c: HostTensor.from('float32', [2], [10, 20]) },
    }),
  ),
  'beside.onnx': Buffer.from(
    writeOnnxModel({
      nodes: [{ op: 'Add', inputs: ['a', 'c'], outputs: ['b'] }],
      inputs: [{ name: 'a', shape: [2] }],
      outputs: ['b'],
      externalInitializers: {
        c: { dtype: 'float32', shape: [2], place: { location: 'beside.bin', offset: '0' } },
      },
    }),
  ),
  'beside.bin': Buffer.from(Float32Array.of(10, 20).buffer),
  'one.onnx': Buffer.from(
    writeOnnxModel({
      nodes: [{ op: 'Relu', inputs: ['x'], outputs: ['y'] }],
      inputs: [{ name: 'x', shape: [1] }],
      outputs: ['y'],
    }),
  ),
  'functions.onnx': hostile('functions that double 30 times'),
  'branches.onnx': hostile('functions that double inside an If'),
  'decay.onnx': Buffer.from(ownModel('Decay')),
  'grey.onnx': Buffer.from(
    writeOnnxModel({
      nodes: [{ op: 'Relu', inputs: ['picture'], outputs: ['same'] }],
      inputs: [{ name: 'picture', shape: [1, 2, 2, 1] }],
      outputs: ['same'],
    }),
  ),
  'picture.onnx': Buffer.from(
    writeOnnxModel({
      nodes: [{ op: 'Relu', inputs: ['picture'], outputs: ['same'] }],
      inputs: [{ name: 'picture', shape: [1, 3, 2, 2] }],
      outputs: ['same'],
    }),
  ),
};

/** A test of e2e/pages/session.html, which the tests of a file share. */
export const test = testOfPage.extend({
  address: '/e2e/pages/session.html',
  page: async ({ page }, use) => {
    await page.route('**/served/*', async (route) => {
      const name = new URL(route.request().url()).pathname.split('/').at(-1) ?? '';
      const body = FILES[name];
      if (body === undefined) return route.fulfill({ status: 404, body: 'not here' });
      // Of answers without a version nothing is kept.
      const headers = { etag: `"${name}"` };
      return route.fulfill({ body, headers, contentType: 'application/octet-stream' });
    });
    await use(page);
    // The last session that goes takes the worker with it. (The driver's own list keeps threads of workers that ended.)
    await expect.poll(() => page.evaluate(() => weft.liveWorkers())).toBe(0);
  },
});
