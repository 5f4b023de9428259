// Creates a load balancer and lists all load balancers. Its environment is that of
//   eval "$(clbemu env)"
import Core from '@alicloud/pop-core';

const scheme = (process.env.ALICLOUD_CLIENT_SCHEME ?? 'HTTPS').toLowerCase();
const client = new Core({
  accessKeyId: process.env.ALIBABA_CLOUD_ACCESS_KEY_ID,
  accessKeySecret: process.env.ALIBABA_CLOUD_ACCESS_KEY_SECRET,
  endpoint: `${scheme}://${process.env.SLB_ENDPOINT ?? 'slb.aliyuncs.com'}`,
  apiVersion: '2014-05-15',
});
const region = { RegionId: process.env.ALIBABA_CLOUD_REGION_ID ?? 'cn-hangzhou' };

const made = await client.request('CreateLoadBalancer', {
  ...region, LoadBalancerName: 'node', AddressType: 'internet',
}, { method: 'POST' });
const all = await client.request('DescribeLoadBalancers', region, { method: 'POST' });
console.log(`made ${made.LoadBalancerId}, there are ${all.TotalCount}`);
