import { describe, expect, test } from 'vitest';
import {
  type AdapterIdentity,
  adapterName,
  classifyAdapter,
  vendorName,
} from './adapter-identity.ts';

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
    [{ vendor: '65541', device: '0', description: 'llvmpipe (LLVM 15.0.6, 256 bits)' }, 'software'],
    [{ vendor: '4318', device: '7941', description: 'NVIDIA H200' }, 'discrete'],
    [{ vendor: '4098' }, 'discrete'],
    [{ vendor: '0', description: 'Apple M1' }, 'discrete'],
    [{ vendor: '32902', description: 'Intel(R) Arc(TM) A770 Graphics (DG2)' }, 'discrete'],
    [{ vendor: '32902', description: 'Intel(R) UHD Graphics 630 (CFL GT2)' }, 'integrated'],
    [{ vendor: '20803', description: 'Adreno 740' }, 'integrated'],
  ] as const)('%j is %s', (known, expected) => {
    expect(classifyAdapter(identity(known))).toBe(expected);
  });
});

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0';
const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36';

test.each([
  [{ vendor: 'google', architecture: 'swiftshader' }, FIREFOX, 'SwiftShader'],
  [{ vendor: 'nvidia', architecture: 'ampere' }, CHROME, 'nvidia ampere'],
  [{ vendor: 'x', description: 'Radeon' }, CHROME, 'Radeon'],
  [{ vendor: '4318', device: '7941' }, 'Deno/2.9.6', 'nvidia'],
  [{ vendor: '1', device: '0' }, 'Deno/2.9.6', 'WebGPU adapter of Deno'],
  [{}, FIREFOX, 'WebGPU adapter of Firefox'],
  [{ isFallbackAdapter: true }, FIREFOX, 'software adapter of Firefox'],
  [{}, CHROME, 'WebGPU adapter of Chrome'],
  [{}, 'Node.js/22', 'WebGPU adapter of Node'],
  [{}, '', 'WebGPU adapter'],
] as const)('%j in %s is called %s', (known, userAgent, expected) => {
  expect(adapterName(identity(known), userAgent)).toBe(expected);
});

test('vendors are known by name and by number', () => {
  const names = ['intel', '32902', '65541', '12345', ''].map((vendor) =>
    vendorName(identity({ vendor })),
  );
  expect(names).toEqual(['intel', 'intel', 'mesa', '', '']);
});
