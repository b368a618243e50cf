import { checkDevice, type DeviceFindings } from './check-device.ts';

/** Functions that the test calls. */
export interface DevicePage {
  inPage(): Promise<DeviceFindings>;
  inWorker(): Promise<DeviceFindings>;
}

const page: DevicePage = {
  inPage: checkDevice,
  inWorker() {
    const worker = new Worker(new URL('./device-worker.ts', import.meta.url), { type: 'module' });
    return new Promise((resolve, reject) => {
      worker.addEventListener('message', ({ data }: MessageEvent<DeviceFindings>) => resolve(data));
      worker.addEventListener('error', ({ message }) => reject(new Error(message)));
    });
  },
};

Object.assign(globalThis, { weftDevice: page });
document.documentElement.dataset['ready'] = 'true';
