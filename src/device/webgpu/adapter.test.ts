import { describe, expect, test } from 'vitest';
import { DeviceError } from '../../core/errors.ts';
import { nodeGpu } from '../../testing/node-gpu.ts';
import { type AdapterIdentity, adapterName, classifyAdapter, openAdapter } from './adapter.ts';

function identity(known: Partial<AdapterIdentity>): AdapterIdentity {
  const unknown = { vendor: '', architecture: '', device: '', description: '' };
  return { ...unknown, isFallbackAdapter: false, ...known };
}

describe('classifyAdapter', () => {
  test.each([
    [{ vendor: 'google', architecture: 'swiftshader' }, 'software'],
    [{ isFallbackAdapter: true }, 'software'],
    [{ vendor: 'mesa', description: 'llvmpipe (LLVM 17)' }, 'software'],
    [{ vendor: 'microsoft', description: 'Microsoft Basic Render Driver' }, 'software'],
    [{ vendor: 'nvidia', architecture: 'ampere' }, 'discrete'],
    [{ vendor: 'amd', architecture: 'rdna-3' }, 'discrete'],
    [{ vendor: 'apple', architecture: 'metal-3' }, 'discrete'],
    [{ vendor: 'intel', architecture: 'gen-12hp' }, 'discrete'],
    [{ vendor: 'intel', architecture: 'gen-9' }, 'integrated'],
    [{ vendor: 'qualcomm', architecture: 'adreno-7xx' }, 'integrated'],
    [{ vendor: 'arm', architecture: 'valhall' }, 'integrated'],
    [{}, 'integrated'],
  ] as const)('%j is %s', (known, expected) => {
    expect(classifyAdapter(identity(known))).toBe(expected);
  });
});

test('adapterName takes the most telling name', () => {
  expect(adapterName(identity({ vendor: 'google', architecture: 'swiftshader' }))).toBe(
    'SwiftShader',
  );
  expect(adapterName(identity({ vendor: 'nvidia', architecture: 'ampere' }))).toBe('nvidia ampere');
  expect(adapterName(identity({ vendor: 'x', description: 'Radeon' }))).toBe('Radeon');
  expect(adapterName(identity({}))).toBe('an unnamed adapter');
});

describe('openAdapter', () => {
  test('requests what the adapter really has', async () => {
    const gpu = await nodeGpu();
    const adapter = await gpu.requestAdapter();
    const { device, caps, info } = await openAdapter({ gpu });
    expect(device.limits.maxBufferSize).toBe(adapter?.limits.maxBufferSize);
    expect(info.maxBufferByteLength).toBe(adapter?.limits.maxBufferSize);
    expect(caps.maxStorageBuffersPerShaderStage).toBe(
      adapter?.limits.maxStorageBuffersPerShaderStage,
    );
    expect(caps.shaderF16).toBe(adapter?.features.has('shader-f16'));
    expect(caps.subgroups).toBe(adapter?.features.has('subgroups'));
    expect(caps.subgroupMinSize > 0).toBe(caps.subgroups);
    device.destroy();
  });

  test('takes another class on request', async () => {
    const opened = await openAdapter({ gpu: await nodeGpu(), adapterClass: 'discrete' });
    expect(opened.caps.adapterClass).toBe('discrete');
    expect(opened.info.adapterClass).toBe('discrete');
    opened.device.destroy();
  });

  test('says what is missing', async () => {
    await expect(openAdapter({ gpu: undefined })).rejects.toThrowErrorMatchingInlineSnapshot(
      `[DeviceError: WebGPU: got no \`gpu\` object, expected \`navigator.gpu\`. Use a browser with WebGPU over https or localhost, or the host device.]`,
    );
    const bare = { requestAdapter: () => Promise.resolve(null) };
    const withoutAdapter = openAdapter({ gpu: bare as unknown as GPU });
    await expect(withoutAdapter).rejects.toThrowErrorMatchingInlineSnapshot(
      `[DeviceError: WebGPU: got no adapter, expected a GPU or a software adapter. Look at chrome://gpu; on Linux WebGPU may need --enable-unsafe-webgpu. The host device works everywhere.]`,
    );
    await expect(withoutAdapter).rejects.toBeInstanceOf(DeviceError);
    const broken = {
      info: identity({ vendor: 'acme' }),
      features: new Set<string>(),
      limits: {},
      requestDevice: () => Promise.reject(new TypeError('too many limits')),
    };
    const failing = { requestAdapter: () => Promise.resolve(broken as unknown as GPUAdapter) };
    await expect(
      openAdapter({ gpu: failing as unknown as GPU }),
    ).rejects.toThrowErrorMatchingInlineSnapshot(
      `[DeviceError: WebGPU adapter acme: got no device (too many limits), expected one with the limits that the adapter offers. Reload the page; after a crash of the GPU process the browser may need a restart.]`,
    );
  });
});
