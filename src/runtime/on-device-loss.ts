import type { DeviceLostError } from '../core/errors.ts';
import type { Device } from '../device/device.ts';

type Listener = (error: DeviceLostError) => void;

interface Watch {
  readonly listeners: Set<Listener>;
  error: DeviceLostError | undefined;
}

const watches = new WeakMap<Device, Watch>();

/**
 * Calls back when a device is lost, later than this call, until the function that it returns is called.
 * One reaction for each device: a promise that stays pending keeps all that it ever got, and with them
 * every machine that was disposed of.
 */
export function onDeviceLoss(device: Device, listener: Listener): () => void {
  const watch = watches.get(device) ?? startWatch(device);
  const { listeners, error } = watch;
  listeners.add(listener);
  if (error !== undefined) {
    queueMicrotask(() => {
      if (listeners.delete(listener)) listener(error);
    });
  }
  return () => listeners.delete(listener);
}

function startWatch(device: Device): Watch {
  const watch: Watch = { listeners: new Set(), error: undefined };
  watches.set(device, watch);
  void tell(device, watch);
  return watch;
}

async function tell(device: Device, watch: Watch): Promise<void> {
  const error = await device.lost;
  watch.error = error;
  for (const listener of watch.listeners) listener(error);
  watch.listeners.clear();
}
