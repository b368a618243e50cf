import { describe, expect, test } from 'vitest';
import { parseDeviceQuery } from './device-query.ts';

const SERVER = { name: 'Desk 1', group: 'lab', connections: 2, calls: 5 };
const DEVICE = {
  name: 'SwiftShader',
  kind: 'webgpu',
  vendor: 'google',
  architecture: 'swiftshader',
  adapterClass: 'software',
  maxBufferByteLength: 2 ** 30,
};

describe('a query of devices', () => {
  test.each([
    ['', true],
    ['  ', true],
    ['class=software', true],
    ['class = SOFTWARE', true],
    ['class!=software', false],
    ['class=software memory>=1GiB', true],
    ['memory>1GiB', false],
    ['memory>1GB', true],
    ['memory<1.5GiB', true],
    ['memory=1073741824', true],
    ['memory>=2048MiB', false],
    ['name="desk 1"', true],
    ['name=desk', false],
    ['name=desk*', true],
    ['name!=desk*', false],
    ['connections<=2 calls<6 group=lab', true],
    ['connections<2', false],
    ['kind=webgpu vendor=google architecture=swift* adapter=swiftshader', true],
  ])('%j is %s', (text, expected) => {
    expect(parseDeviceQuery(text)(SERVER, DEVICE)).toBe(expected);
  });

  test.each([
    ['software', 'query of devices, character 1: got "software", expected a term such as'],
    ['class=software memory>=', 'character 16: got "memory>="'],
    ['speed>1', 'got the field speed, expected one of class, kind,'],
    ['toString=1', 'got the field toString'],
    ['memory>=big', 'got memory compared with "big", expected a number'],
    ['memory>=1PiB', 'got memory compared with "1pib"'],
    ['class>=software', 'got >= for class, which is a text, expected = or !='],
    ['name="desk', 'got "name=\\"desk"'],
    ['a=1;b=2', 'the field a'],
  ])('%j is an error', (text, message) => {
    expect(() => parseDeviceQuery(text)).toThrow(message);
    expect(() => parseDeviceQuery(text)).toThrow(expect.objectContaining({ name: 'ParseError' }));
  });
});
