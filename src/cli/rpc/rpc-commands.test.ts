import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createHostDevice } from '../../device/host/host-device.ts';
import { deriveRelayToken, serveRelay } from '../../rpc/index.ts';
import { testProgram, TOKEN } from '../../rpc/testing/open-connection.ts';
import { main } from '../main.ts';
import { startRelay } from './start-relay.ts';

async function run(args: readonly string[]) {
  let out = '';
  let err = '';
  const terminal = {
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
    isInteractive: false,
  };
  return { status: await main(args, terminal), out, err };
}

test('rpc bench times executables on the devices of a remote', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weft-rpc-'));
  const relay = await startRelay({ port: 0, relayToken: await deriveRelayToken(TOKEN) });
  const device = createHostDevice();
  const offer = { 'local.add': () => null };
  const serving = serveRelay(relay.url, { key: 'desk', token: TOKEN, devices: [device], offer });
  try {
    const [program, token] = [join(folder, 'a.weft'), join(folder, 'token')];
    await writeFile(program, testProgram().toBytes());
    await writeFile(token, `${TOKEN}\n`);
    const where = ['--relay', relay.url, '--key', 'desk', '--token-file', token];
    const what = ['--function', 'same', '--arg', '3', '--repeat', '3'];
    const { status, out, err } = await run(['rpc', 'bench', program, program, ...where, ...what]);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    const lines = out.trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[1]).toMatch(/desk: host +\d+\.\d{3} +\d+\.\d{3} +\d+\.\d{3} +-$/);
  } finally {
    serving.stop();
    await serving.ended;
    await relay.close();
    device.destroy();
    await rm(folder, { recursive: true });
  }
});

test('rpc token prints one; other commands want one', async () => {
  expect((await run(['rpc', 'token'])).out).toMatch(/^[a-z2-7]{32}\n$/);
  const missing = await run(['rpc', 'bench', 'a.weft', '--key', 'desk', '--token-file', '/none']);
  expect(missing.status).toBe(1);
  expect((await run(['rpc', 'serve'])).status).toBe(2);
  const both = await run(['rpc', 'serve', '--key', 'desk', '--nats', 'nats://127.0.0.1']);
  expect(both).toMatchObject({ status: 2, err: expect.stringContaining('both --key and --nats') });
  expect((await run(['rpc', 'devices'])).status).toBe(2);
  const secret = await run(['rpc', 'devices', '--nats', 'nats://me:secret@127.0.0.1']);
  expect(secret).toMatchObject({ status: 2, err: expect.stringContaining('never part of an') });
});
