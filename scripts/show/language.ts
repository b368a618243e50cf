import { isDeepStrictEqual } from 'node:util';
import { type DeviceKind, Session } from '../../src/client/index.ts';
import { parseModule } from '../../src/frontend/index.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { PROGRAMS, type ShownProgram } from './language/programs.ts';

const DEVICES: readonly DeviceKind[] = ['host', 'wasm', 'webgpu'];

/** Texts with mistakes, and the places and words that the message names. */
const MISTAKES: readonly { readonly text: string; readonly expected: string }[] = [
  {
    text: 'def @main(%x: Tensor[(2,), float32]) { rleu(%x) }',
    expected: 'shown.ir:1:40: got "rleu", expected an operator. Did you mean relu?',
  },
  {
    text: 'extern def @f(%x) -> int\ndef @main() { #1 }',
    expected: 'shown.ir:1:15: got "%x", expected a parameter with its type, such as %x: int.',
  },
];

/** `npm run show -- language`: what programs give on each device, beside what was expected. */
export async function main(): Promise<number> {
  let failures = 0;
  const report = (isGood: boolean, title: string, [expected, got]: readonly [unknown, unknown]) => {
    if (!isGood) failures++;
    console.log(`${isGood ? 'ok    ' : 'FAILED'} ${title}`);
    console.log(
      `         expected ${JSON.stringify(expected)}\n         got      ${JSON.stringify(got)}`,
    );
  };
  for (const shown of PROGRAMS) {
    for (const device of DEVICES) {
      const got = await resultOf(shown, device);
      const isGood = isDeepStrictEqual(got, shown.expected);
      report(isGood, `${device}: ${shown.title}`, [shown.expected, got]);
    }
  }
  for (const { text, expected } of MISTAKES) {
    const got = messageOf(text);
    report(got.startsWith(expected), 'messages have their places', [expected, got]);
  }
  console.log(failures === 0 ? 'All of it holds.' : `${failures} FAILED`);
  return failures === 0 ? 0 : 1;
}

/** The result of a program in this thread, or the error. */
async function resultOf(shown: ShownProgram, device: DeviceKind): Promise<unknown> {
  const gpu = device === 'webgpu' ? { gpu: await nodeGpu() } : {};
  try {
    const options = { ...shown.options, ...gpu, device, worker: false };
    const session = await Session.load(shown.source(), options);
    try {
      return await shown.run(session);
    } finally {
      await session.dispose();
    }
  } catch (error) {
    return String(error);
  }
}

function messageOf(text: string): string {
  try {
    parseModule(text, { file: 'shown.ir' });
    return 'no message';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
