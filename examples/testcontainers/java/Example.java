import com.aliyuncs.CommonRequest;
import com.aliyuncs.DefaultAcsClient;
import com.aliyuncs.IAcsClient;
import com.aliyuncs.http.MethodType;
import com.aliyuncs.http.ProtocolType;
import com.aliyuncs.profile.DefaultProfile;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/** Starts clbemu in a container, creates a load balancer there, and lists all. */
public class Example {
    public static void main(String[] args) throws Exception {
        try (GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse("ghcr.io/clbemu/clbemu:0.1.0"))
                .withExposedPorts(9600, 9601)
                .withEnv("CLBEMU_ENGINE", "memory")
                .waitingFor(Wait.forHttp("/readyz").forPort(9601))) {
            container.start();
            IAcsClient client = new DefaultAcsClient(DefaultProfile.getProfile("cn-hangzhou", "testid", "testsecret"));
            String host = container.getHost() + ":" + container.getMappedPort(9600);
            for (String action : new String[] {"CreateLoadBalancer", "DescribeLoadBalancers"}) {
                CommonRequest request = new CommonRequest();
                request.setSysMethod(MethodType.POST);
                request.setSysProtocol(ProtocolType.HTTP);
                request.setSysDomain(host);
                request.setSysVersion("2014-05-15");
                request.setSysAction(action);
                request.putQueryParameter("RegionId", "cn-hangzhou");
                System.out.println(client.getCommonResponse(request).getData());
            }
        }
    }
}
