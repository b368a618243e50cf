import { type ServedDevice, type ServeEvent, serveRelay } from '../../rpc/index.ts';
import { createDevice } from '../../worker/index.ts';
import type { LendAddress } from './lend-address.ts';
import type { FromWorker, LendEvent, ToWorker } from './lend-messages.ts';

const stopped = new AbortController();

globalThis.addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'stop') stopped.abort();
  else {
    lend(data.address, stopped.signal).then(
      () => tell({ kind: 'ended' }),
      (error: unknown) => tell({ kind: 'ended', error: messageOf(error) }),
    );
  }
});

async function lend(address: LendAddress, signal: AbortSignal): Promise<void> {
  const devices = await openDevices(address);
  tell({ kind: 'state', state: 'connecting' });
  try {
    await (address.way === 'nats' ? overNats : overRelay)(address, devices, signal);
  } finally {
    for (const device of devices) device.destroy();
  }
}

async function overRelay(
  { url, place, token, auth, name }: LendAddress,
  devices: readonly ServedDevice[],
  signal: AbortSignal,
): Promise<void> {
  const serving = serveRelay(url, {
    key: place,
    token,
    relayToken: auth === '' ? undefined : auth,
    devices,
    name: name === '' ? place : name,
    onEvent: tellEvent,
    onState: (state) => tell({ kind: 'state', state }),
  });
  signal.addEventListener('abort', () => serving.stop(), { once: true });
  await serving.ended;
}

async function overNats(
  { url, place, token, auth, name }: LendAddress,
  devices: readonly ServedDevice[],
  signal: AbortSignal,
): Promise<void> {
  const { openNats, serveNats } = await import('../../rpc/nats/index.ts');
  const nats = await openNats(url, { auth: auth === '' ? undefined : auth, name: 'weft page' });
  try {
    const serving = await serveNats(nats, {
      group: place,
      token,
      devices,
      name: name === '' ? undefined : name,
      onEvent: tellEvent,
    });
    tell({ kind: 'state', state: 'waiting' });
    void followState(nats.status());
    signal.addEventListener('abort', () => void serving.stop(), { once: true });
    const reason = await serving.ended;
    if (reason !== undefined) throw reason;
  } finally {
    await nats.close();
  }
}

async function followState(changes: AsyncIterable<{ readonly type: string }>): Promise<void> {
  for await (const { type } of changes) {
    if (type === 'disconnect') tell({ kind: 'state', state: 'retrying' });
    if (type === 'reconnect') tell({ kind: 'state', state: 'waiting' });
  }
}

/** The device that is lent, and the host, where its programs find what WebGPU cannot do. */
async function openDevices({ device }: LendAddress): Promise<ServedDevice[]> {
  const host = await createDevice('host');
  const report = (devices: readonly ServedDevice[], note?: string): void =>
    tell({ kind: 'device', names: devices.map(({ info }) => info.name), note });
  const notes: string[] = [];
  for (const kind of device === 'auto' ? (['webgpu', 'wasm'] as const) : [device]) {
    if (kind === 'host') break;
    try {
      const devices = [await createDevice(kind), host];
      report(devices, notes.join(' ') || undefined);
      return devices;
    } catch (error) {
      if (device !== 'auto') throw error;
      notes.push(messageOf(error));
    }
  }
  report([host], notes.join(' ') || undefined);
  return [host];
}

function tellEvent(event: ServeEvent): void {
  const plain: LendEvent =
    event.kind === 'closed' ? { ...event, reason: event.reason.message } : event;
  tell({ kind: 'event', event: plain });
}

function tell(message: FromWorker): void {
  globalThis.postMessage(message);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
