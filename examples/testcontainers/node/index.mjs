// Starts clbemu in a container, creates a load balancer there, and lists all.
import Core from '@alicloud/pop-core';
import { GenericContainer, Wait } from 'testcontainers';

const container = await new GenericContainer('ghcr.io/clbemu/clbemu:0.1.0')
  .withExposedPorts(9600, 9601)
  .withEnvironment({ CLBEMU_ENGINE: 'memory' })
  .withWaitStrategy(Wait.forHttp('/readyz', 9601))
  .start();
try {
  const client = new Core({
    accessKeyId: 'testid',
    accessKeySecret: 'testsecret',
    endpoint: `http://${container.getHost()}:${container.getMappedPort(9600)}`,
    apiVersion: '2014-05-15',
  });
  const made = await client.request('CreateLoadBalancer', {
    RegionId: 'cn-hangzhou', LoadBalancerName: 'web', AddressType: 'internet',
  }, { method: 'POST' });
  const all = await client.request('DescribeLoadBalancers', { RegionId: 'cn-hangzhou' }, { method: 'POST' });
  console.log(`made ${made.LoadBalancerId}, there are ${all.TotalCount}`);
} finally {
  await container.stop();
}
