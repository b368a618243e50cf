import { type Ceilings, measureCeilings as measure } from '../kernels/ceilings.ts';

export interface AdapterReport extends Ceilings {
  readonly adapter: string;
}

/** What the page's adapter can do at best. Throws where there is none. */
export async function measureCeilings(): Promise<AdapterReport> {
  const adapter = await navigator.gpu.requestAdapter();
  if (adapter === null) throw new Error('this browser has no WebGPU adapter');
  const device = await adapter.requestDevice();
  try {
    const { vendor, architecture, description } = adapter.info;
    const name = [vendor, architecture, description].filter((word) => word !== '').join(' ');
    return { adapter: name, ...(await measure({ device })) };
  } finally {
    device.destroy();
  }
}
