package contracttests

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aliyun/alibaba-cloud-sdk-go/sdk"
	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/auth"
	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/auth/credentials"
	sdkerrors "github.com/aliyun/alibaba-cloud-sdk-go/sdk/errors"
	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/requests"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/ecs"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/quotas"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/resourcemanager"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/sts"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/vpc"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// sdkClients are the clients of alibaba-cloud-sdk-go, pointed at an emulator as a
// CCM does it: by the Domain of the client and the scheme of its configuration.
type sdkClients struct {
	SLB    *slb.Client
	VPC    *vpc.Client
	ECS    *ecs.Client
	STS    *sts.Client
	RM     *resourcemanager.Client
	Quotas *quotas.Client
}

// newSDKClients signs with the key of the world.
func newSDKClients(t testing.TB, host string) *sdkClients {
	t.Helper()
	return sdkClientsWith(t, host, credentials.NewAccessKeyCredential(emulatortest.AccessKeyID, emulatortest.AccessKeySecret))
}

// newSTSClient signs with temporary credentials.
func newSTSClient(t testing.TB, host string, c accessCredentials) *sdkClients {
	t.Helper()
	return sdkClientsWith(t, host, credentials.NewStsTokenCredential(c.AccessKeyID, c.AccessKeySecret, c.SecurityToken))
}

func sdkClientsWith(t testing.TB, host string, credential auth.Credential) *sdkClients {
	t.Helper()
	var c sdkClients
	var errs [6]error
	config := sdk.NewConfig().WithScheme("HTTP").WithTimeout(await.Patience)
	c.SLB, errs[0] = slb.NewClientWithOptions(region, config, credential)
	c.VPC, errs[1] = vpc.NewClientWithOptions(region, config, credential)
	c.ECS, errs[2] = ecs.NewClientWithOptions(region, config, credential)
	c.STS, errs[3] = sts.NewClientWithOptions(region, config, credential)
	c.RM, errs[4] = resourcemanager.NewClientWithOptions(region, config, credential)
	c.Quotas, errs[5] = quotas.NewClientWithOptions(region, config, credential)
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatalf("make the SDK's clients: %v", err)
	}
	c.SLB.Domain, c.VPC.Domain, c.ECS.Domain, c.STS.Domain, c.RM.Domain, c.Quotas.Domain = host, host, host, host, host, host
	return &c
}

// of returns the client of a product.
func (c *sdkClients) of(product string) (any, bool) {
	client, ok := map[string]any{"Slb": c.SLB, "Vpc": c.VPC, "Ecs": c.ECS, "Sts": c.STS, "ResourceManager": c.RM, "quotas": c.Quotas}[product]
	return client, ok
}

// method finds the SDK's method for an action.
func (c *sdkClients) method(product, action string) (reflect.Value, error) {
	client, ok := c.of(product)
	if !ok {
		return reflect.Value{}, fmt.Errorf("the SDK has no client for %s", product)
	}
	method := reflect.ValueOf(client).MethodByName(action)
	if !method.IsValid() {
		return method, fmt.Errorf("the SDK has no %s %s", product, action)
	}
	return method, nil
}

// sdkActions returns the actions that the SDK has of a product, or none if it has no client for the
// product.
func sdkActions(product string) (names []string) {
	client, ok := (&sdkClients{}).of(product)
	if !ok {
		return nil
	}
	for m := range reflect.TypeOf(client).Methods() {
		if m.Type.NumOut() == 2 && m.Type.Out(0).Kind() == reflect.Pointer && m.Type.Out(0).Elem().Name() == m.Name+"Response" {
			names = append(names, m.Name)
		}
	}
	return names
}

// unlisted are actions that clients use and the SDK does not have: CLB-0526.
var unlisted = []string{"Slb.ServiceManagedControl"}

// call makes a call with the SDK's own request type, which must have a field for
// every parameter, and returns its own response.
func (c *sdkClients) call(product, action string, p params) (any, error) {
	if slices.Contains(untyped, product) || slices.Contains(unlisted, product+"."+action) {
		return untypedCall(c.SLB.Domain, product, action, p)
	}
	method, err := c.method(product, action)
	if err != nil {
		return nil, err
	}
	request := reflect.New(method.Type().In(0).Elem())
	rpc := &requests.RpcRequest{}
	request.Elem().FieldByName("RpcRequest").Set(reflect.ValueOf(rpc))
	rpc.InitWithApiInfo(product, versions[product], action, "", "")
	rpc.Method = requests.POST
	for name, value := range p {
		if name == "RegionId" {
			rpc.RegionId = value
			continue
		}
		if err := setParam(request.Elem(), name, value); err != nil {
			return nil, fmt.Errorf("%s: %w", action, err)
		}
	}
	out := method.Call([]reflect.Value{request})
	err, _ = out[1].Interface().(error)
	return out[0].Interface(), err
}

// setParam sets the field of a parameter such as Tag.1.Key.
func setParam(request reflect.Value, name, value string) error {
	head, rest, _ := strings.Cut(name, ".")
	field, ok := fieldOf(request, name)
	if ok {
		rest = ""
	} else if field, ok = fieldOf(request, head); !ok {
		return fmt.Errorf("the SDK's request has no %s", name)
	}
	if rest == "" {
		field.SetString(value)
		return nil
	}
	if field.Kind() == reflect.Struct {
		return setParam(field, rest, value)
	}
	number, rest, nested := strings.Cut(rest, ".")
	n, err := strconv.Atoi(number)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if field.Kind() == reflect.Pointer {
		if field.IsNil() {
			field.Set(reflect.New(field.Type().Elem()))
		}
		field = field.Elem()
	}
	for field.Len() < n {
		field.Set(reflect.Append(field, reflect.Zero(field.Type().Elem())))
	}
	if nested {
		return setParam(field.Index(n-1), rest, value)
	}
	field.Index(n - 1).SetString(value)
	return nil
}

func fieldOf(request reflect.Value, name string) (reflect.Value, bool) {
	for i := range request.NumField() {
		if request.Type().Field(i).Tag.Get("name") == name {
			return request.Field(i), true
		}
	}
	return reflect.Value{}, false
}

// codeOf returns the code of a refusal as the SDK understood it, or "" for a success.
func codeOf(err error) string {
	var refusal *sdkerrors.ServerError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refusal):
		return refusal.ErrorCode()
	}
	if code, ok := nlbCode(err); ok {
		return code
	}
	return "no refusal: " + err.Error()
}

// filled collects the paths of a response's fields that have a value.
func filled(v reflect.Value, path string, into map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			filled(v.Elem(), path, into)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Tag.Get("json"); name != "" {
				filled(v.Field(i), path+"."+name, into)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			filled(v.Index(i), path, into)
		}
	default:
		if !v.IsZero() {
			into[path] = true
		}
	}
}

// leaves returns the paths of all fields that a response type can have.
func leaves(t reflect.Type, path string) (paths []string) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return leaves(t.Elem(), path)
	case reflect.Struct:
		for i := range t.NumField() {
			if name := t.Field(i).Tag.Get("json"); name != "" {
				paths = append(paths, leaves(t.Field(i).Type, path+"."+name)...)
			}
		}
		slices.Sort(paths)
		return paths
	}
	return []string{path}
}
