import { expect, test } from 'vitest';
import { Session } from '../client/index.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import { openConnection } from '../rpc/testing/open-connection.ts';
import { ProgramService } from './program/program-service.ts';
import { type InspectorTarget, readTarget } from './read-target.ts';
import { deepProgram } from './testing/deep-program.ts';

const executable = deepProgram(13).toBytes();

async function layoutOf(target: InspectorTarget) {
  const service = new ProgramService();
  expect(service.open(await readTarget(target))).toEqual({
    functions: ['main'],
    kernelCount: 4,
    constantBytes: 0,
  });
  return service.layout('main', []);
}

test('a session gives the program that its file has', async () => {
  const session = await Session.load(executable, { device: 'host', worker: false });
  const fromSession = await layoutOf({ session });
  const fromBytes = await layoutOf({ executable });
  expect(fromSession.graph).toEqual(fromBytes.graph);
  expect(fromSession.shown.nodes).toHaveLength(15);
  await session.dispose();
  await expect(readTarget({ session })).rejects.toThrow('The session was disposed.');
});

test('a session on a lent device gives it too', async () => {
  const { remote, served } = await openConnection({ devices: [createHostDevice()] });
  const session = await Session.load(executable, { remote });
  expect((await layoutOf({ session })).graph.nodes).toHaveLength(15);
  await session.dispose();
  served.close();
});

test('bytes that are no executable, and nothing at all, are refused', async () => {
  await expect(readTarget({ executable: Uint8Array.of(1, 2, 3) })).rejects.toMatchObject({
    name: 'FormatError',
  });
  await expect(readTarget({})).rejects.toThrow(
    'weft-inspector, show: got neither a session nor an executable',
  );
});
