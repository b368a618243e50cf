import { DeviceError } from '../../core/errors.ts';
import { shortList } from '../../core/short-list.ts';
import { SharedDevice } from '../../worker/devices/device-pool.ts';
import type { DeviceSource, OpenedDevices } from '../../worker/devices/opened-devices.ts';
import { requested } from '../../worker/host/describe-place.ts';
import type { DeviceKind } from '../../worker/protocol/loaded-session.ts';
import { hostBeside, type ServedDevice } from '../served-device.ts';

/** The devices of a server, for the sessions of one connection: whoever profiles keeps out no other who uses them. */
export class ServedDevices implements DeviceSource {
  readonly #devices: readonly ServedDevice[];
  readonly #shared = new Map<ServedDevice, SharedDevice>();

  constructor(devices: readonly ServedDevice[]) {
    this.#devices = devices;
  }

  /** The first device of a kind. Throws DeviceError where none is served. */
  find(wanted: DeviceKind | 'auto'): ServedDevice {
    const found = this.#devices.find(({ kind }) => wanted === 'auto' || kind === wanted);
    if (found !== undefined) return found;
    throw new DeviceError({
      where: `device '${wanted}'`,
      got: `a server of ${shortList(this.#devices.map(({ info }) => info.name)) || 'no devices'}`,
      expected: 'one that serves such a device',
    });
  }

  async open(wanted: DeviceKind | 'auto'): Promise<OpenedDevices> {
    const main = this.find(wanted);
    const host = hostBeside(main, this.#devices);
    const isFirst = wanted === 'auto';
    const reason = isFirst ? 'It is the first device of the server.' : requested(wanted);
    return { main: this.#share(main), host: this.#share(host), reason };
  }

  /** A server has the devices that it has. */
  async fit<T extends OpenedDevices>(devices: T): Promise<T> {
    return devices;
  }

  /** Devices outlive the sessions. */
  isBusy(): boolean {
    return false;
  }

  #share(device: ServedDevice): SharedDevice {
    const known = this.#shared.get(device);
    const shared = known ?? new SharedDevice(device);
    // Once more than it is released: the device is the server's, who alone destroys it.
    if (known === undefined) shared.retain();
    this.#shared.set(device, shared);
    shared.retain();
    return shared;
  }
}
