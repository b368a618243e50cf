import { describe, expect, test } from 'vitest';
import { createHostDevice } from '../device/host/host-device.ts';
import { ownModel, RESULTS, X } from '../frontend/onnx/testing/own-model.ts';
import { importers, operators } from '../frontend/onnx/testing/own-operators.ts';
import { openConnection } from '../rpc/testing/open-connection.ts';
import { Session, Tensor } from './index.ts';

const INPUT = { v0: new Tensor('float32', Float32Array.from(X), [2, 4]) };
const HERE = { worker: false, device: 'host' } as const;

async function resultOf(session: Session): Promise<number[]> {
  const { v1 } = await session.run(INPUT);
  return Array.from(v1?.data ?? [], Number);
}

describe('a session in this thread with operators and importers of its own', () => {
  test.each(['Squareplus', 'Decay', 'Shrink'] as const)('%s', async (node) => {
    const session = await Session.load(ownModel(node), { ...HERE, operators, importers });
    const actual = await resultOf(session);
    for (const [i, value] of RESULTS[node].entries()) expect(actual[i]).toBeCloseTo(value, 4);
    await session.dispose();
  });

  test('compiles a model that takes longer here too', async () => {
    const options = { ...HERE, operators, importers, compileLimits: { nodes: 10 } };
    const session = await Session.load(ownModel('Shrink'), options);
    expect(await resultOf(session)).toEqual(RESULTS.Shrink);
    await session.dispose();
  });

  test('knows what others beside it do not', async () => {
    const own = await Session.load(ownModel('Shrink'), { ...HERE, operators, importers });
    await expect(Session.load(ownModel('Shrink'), HERE)).rejects.toThrow('com.example.Shrink');
    expect(await resultOf(own)).toEqual(RESULTS.Shrink);
    await own.dispose();
  });
});

test('what a worker would not get is refused', async () => {
  await expect(
    Session.load(ownModel('Shrink'), { worker: true, importers }),
  ).rejects.toThrowErrorMatchingInlineSnapshot(
    `[UsageError: Session.load: got operators or importers, which cannot be sent to a worker, expected worker: false or remote. In your own worker pass them to serve.]`,
  );
});

describe('a session on a served device', () => {
  test('runs what its compiler made of a composition', async () => {
    const device = createHostDevice();
    const { remote } = await openConnection({ devices: [device] });
    const session = await Session.load(ownModel('Shrink'), { remote, operators, importers });
    expect(await resultOf(session)).toEqual(RESULTS.Shrink);
    await session.dispose();
  });

  test('names the operator that the server lacks', async () => {
    const device = createHostDevice();
    const { remote } = await openConnection({ devices: [device] });
    await expect(Session.load(ownModel('Decay'), { remote, operators, importers })).rejects.toThrow(
      'got operator decay, expected one that the device has',
    );
  });
});
